/** What `smalt import FILE…` says about records that fail, and what it does to the file of rejects. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Ended, runCommand } from '../../support/command.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { type Place, freshPlace, onEveryStore } from '../../support/store-kind.ts'

const FIELDS = { _id: { type: 'string' }, n: { type: 'integer' }, text: { type: 'string' } }

onEveryStore(() => {
  const scratch = mkdtempSync(join(tmpdir(), 'smalt-rejects-'))
  let place: Place
  let smalt: SmaltProcess

  before(async () => {
    place = await freshPlace()
    smalt = await startSmalt(place.location)
  })
  after(async () => {
    await smalt[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true, force: true })
  })

  const define = async (entity: string): Promise<void> => {
    assert.equal(
      (await smalt.ask('PUT', `/metadata/${entity}/1.0.0`, metadataDocument(entity, FIELDS))).status,
      200,
    )
  }
  const load = (file: string, entity: string, ...more: readonly string[]): Promise<Ended> =>
    runCommand(['import', file, '--entity', entity, ...more, '--url', smalt.url], { cwd: scratch })
  const write = (name: string, documents: readonly object[]): string => {
    writeFileSync(join(scratch, name), documents.map((each) => `${JSON.stringify(each)}\n`).join(''))
    return name
  }
  const textOf = (name: string): string => readFileSync(join(scratch, name), 'utf8')
  const rejectsIn = (name: string): readonly Reject[] =>
    textOf(name)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Reject)
  const countOf = async (entity: string): Promise<number> => {
    const body = { query: { $and: [] }, projection: { field: '_id' } }
    return Number((await smalt.ask('POST', `/data/find/${entity}`, body)).json.matchCount)
  }

  const text = 'x'.repeat(3_000)

  test('import: one record that fails in a batch of some megabytes is named', async () => {
    await define('onebad')
    const documents = Array.from({ length: 900 }, (_, i) => ({ n: i === 450 ? 'bad' : i, text }))
    const file = write('onebad.ndjson', documents)
    const stopped = await load(file, 'onebad')
    assert.match(stopped.err, /onebad\.ndjson, line 451: .*"n".* \(metadata:IncompatibleValue\)\n/)
    assert.deepEqual([stopped.code, await countOf('onebad')], [1, 0])
  })

  test('import: half of a batch of some megabytes fails, and is rejected', async () => {
    await define('half')
    const documents = Array.from({ length: 900 }, (_, i) => ({ n: i % 2 === 0 ? 'bad' : i, text }))
    const { code, err } = await load(write('half.ndjson', documents), 'half', '--on-error', 'skip')
    assert.equal(code, 7, err)
    const rejects = rejectsIn('half-rejects.ndjson')
    assert.deepEqual([rejects.length, await countOf('half')], [450, 450])
    assert.deepEqual([rejects[1]!.line, rejects[1]!.document], [3, documents[2]])
  })

  test('import: what is wrong with a single large document is said', async () => {
    await define('single')
    const file = write('single.ndjson', [{ n: 'bad', text: 'x'.repeat(1_200_000) }])
    const stopped = await load(file, 'single')
    assert.equal(stopped.code, 1)
    assert.match(stopped.err, /single\.ndjson, line 1: .*"n"/)
    const skipped = await load(file, 'single', '--on-error', 'skip')
    assert.equal(skipped.code, 7, skipped.err)
    const [reject] = rejectsIn('single-rejects.ndjson')
    assert.deepEqual(
      reject!.errors.map(({ errorCode }) => errorCode),
      [WRONG_TYPE],
    )
  })

  test('import: errors of more than one answer may hold are all reported, and nothing is stored twice', async () => {
    await define('many')
    const names = Array.from({ length: 100 }, (_, i) => [`unknown${i}`, i])
    const documents = Array.from({ length: 200 }, (_, i) =>
      i % 4 === 0 ? { n: i } : Object.fromEntries(names),
    )
    // the end is missing, so that the import does not come to its end
    writeFileSync(join(scratch, 'many.json'), JSON.stringify(documents).slice(0, -1))
    const args = ['many.json', 'many', '--batch', '200', '--resume', 'many.position'] as const
    const stopped = await load(...args)
    assert.match(stopped.err, /many\.json, line 1: .*unknown0/)
    assert.match(stopped.err, /and 145 more/)
    assert.equal(await countOf('many'), 0)
    const skipped = await load(...args, '--on-error', 'skip')
    assert.match(skipped.err, /ends before it is complete/)
    assert.deepEqual([rejectsIn('many-rejects.ndjson').length, await countOf('many')], [150, 50])
    // as if the acknowledgement of the batch had been lost
    const state = JSON.parse(textOf('many.position'))
    const position = { ...state.position, records: 0, imported: 0, rejected: 0, rejectsBytes: 0 }
    writeFileSync(join(scratch, 'many.position'), JSON.stringify({ ...state, position }))
    const again = await load(...args, '--on-error', 'skip')
    assert.match(again.err, /the same command goes on after 50 documents/)
    assert.deepEqual([rejectsIn('many-rejects.ndjson').length, await countOf('many')], [150, 50])
  })

  test('import: a resumed import refuses another file of rejects', async () => {
    await define('resumed')
    writeFileSync(join(scratch, 'resumed.json'), '[{"n":"bad"},{"n":1},{"n":"bad"},{"n":2}')
    const args = [
      'resumed.json',
      'resumed',
      '--on-error',
      'skip',
      '--batch',
      '2',
      '--resume',
      'resumed.position',
    ]
    const [file, entity, ...more] = args as [string, string, ...string[]]
    const begin = await load(file, entity, ...more, '--rejects', 'r1.ndjson')
    assert.match(begin.err, /ends before it is complete/)
    const notes = 'my notes '.repeat(1000)
    writeFileSync(join(scratch, 'notes.txt'), notes)
    for (const other of ['notes.txt', 'absent.ndjson']) {
      const { code, err } = await load(file, entity, ...more, '--rejects', other)
      assert.match(err, new RegExp(`rejects are in .*r1\\.ndjson, not in .*${other}`))
      assert.equal(code, 6)
    }
    assert.deepEqual([textOf('notes.txt'), existsSync(join(scratch, 'absent.ndjson'))], [notes, false])
    const first = textOf('r1.ndjson')
    const same = await load(file, entity, ...more, '--rejects', `./r1.ndjson`)
    assert.match(same.err, /the same command goes on after 2 documents/)
    assert.equal(textOf('r1.ndjson'), first)
    // something else has taken its place
    for (const other of [notes, `${first.slice(0, -1)} `, `${first}my notes`, first.slice(0, 100)]) {
      writeFileSync(join(scratch, 'r1.ndjson'), other)
      const { code, err } = await load(file, entity, ...more, '--rejects', 'r1.ndjson')
      assert.match(err, /r1\.ndjson is not as this import left it/)
      assert.deepEqual([code, textOf('r1.ndjson')], [6, other])
    }
    // another import has used the same file
    writeFileSync(join(scratch, 'r1.ndjson'), first)
    await load(
      write('another.ndjson', [{ n: 'bad' }]),
      entity,
      '--on-error',
      'skip',
      '--rejects',
      'r1.ndjson',
    )
    const both = textOf('r1.ndjson')
    assert.ok(both.startsWith(`${first}{"file":"another.ndjson",`))
    assert.equal((await load(file, entity, ...more, '--rejects', 'r1.ndjson')).code, 6)
    assert.equal(textOf('r1.ndjson'), both)
    // the last line was cut when the command was killed
    writeFileSync(join(scratch, 'r1.ndjson'), first + first.slice(0, 5))
    await load(file, entity, ...more, '--rejects', 'r1.ndjson')
    assert.equal(textOf('r1.ndjson'), first)
  })

  test('import: a new import adds to a file of rejects, and leaves any other file alone', async () => {
    await define('added')
    const file = write('added.ndjson', [{ n: 'bad' }, { n: 1 }])
    const skip = ['--on-error', 'skip', '--rejects'] as const
    for (const notes of ['my notes\n', '{"file":"cut', '{"name":"x"}\n']) {
      writeFileSync(join(scratch, 'other.txt'), notes)
      const { code, err } = await load(file, 'added', ...skip, 'other.txt')
      assert.match(err, /other\.txt exists, and is not a file of rejects of an import/)
      assert.deepEqual([code, textOf('other.txt'), await countOf('added')], [6, notes, 0])
    }
    assert.equal((await load(file, 'added', ...skip, 'added.rejects')).code, 7)
    const first = textOf('added.rejects')
    assert.equal((await load(file, 'added', ...skip, 'added.rejects')).code, 7)
    assert.equal(textOf('added.rejects'), first + first)
    // with a position, that of the earlier import stays when it goes on
    writeFileSync(join(scratch, 'cut.json'), '[{"n":"bad"},{"n":1}')
    const args = ['cut.json', 'added', '--batch', '2', '--resume', 'added.position'] as const
    assert.equal((await load(...args)).code, 1)
    for (let round = 0; round < 2; round++) {
      assert.equal((await load(...args, ...skip, 'added.rejects')).code, 1)
      assert.deepEqual(
        rejectsIn('added.rejects').map((each) => each.file),
        ['added.ndjson', 'added.ndjson', 'cut.json'],
      )
    }
  })
})

interface Reject {
  readonly file: string
  readonly line: number
  readonly document: unknown
  readonly errors: readonly { readonly errorCode: string }[]
}

const WRONG_TYPE = 'metadata:IncompatibleValue'
