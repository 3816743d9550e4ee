/** `smalt metadata`, from outside, against a real process on every kind of store. */
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startCli } from '../../support/cli-process.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { ANYONE } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { type Place, freshPlace, onEveryStore } from '../../support/store-kind.ts'

const CUSTOMER = {
  entityInfo: {
    name: 'customer',
    defaultVersion: '1.0.0',
    indexes: [{ name: 'city', fields: [{ field: 'home.city' }] }],
    hooks: [{ name: 'changes', actions: ['insert'] }],
  },
  schema: {
    name: 'customer',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: ANYONE,
    fields: {
      zebra: { type: 'string', description: 'comes first' },
      home: { type: 'object', fields: { city: { type: 'string' } } },
      tags: { type: 'array', items: { type: 'string' } },
      orders: {
        type: 'reference',
        entity: 'order',
        query: { field: 'customer', op: '=', rfield: '$parent._id' },
      },
    },
  },
}
const ORDER = {
  entityInfo: { name: 'order', defaultVersion: '1.0.0', indexes: [{ fields: [{ field: 'customer' }] }] },
  schema: {
    name: 'order',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: ANYONE,
    fields: { customer: { type: 'string' }, price: { type: 'bigdecimal', access: { find: ['boss'] } } },
  },
}

/** A file as a test changes it. */
type Editable = Record<string, unknown> & {
  readonly status: { value: string }
  readonly fields: Record<string, { type: string }>
}

onEveryStore(() => {
  const scratch = mkdtempSync(join(tmpdir(), 'smalt-metadata-'))
  let places: Place[] = []
  let smalt: SmaltProcess
  let other: SmaltProcess

  before(async () => {
    places = [await freshPlace(), await freshPlace()]
    smalt = await startSmalt(places[0]!.location)
    other = await startSmalt(places[1]!.location)
    assert.equal((await smalt.ask('PUT', '/metadata', [CUSTOMER, ORDER])).status, 200)
  })
  after(async () => {
    await smalt[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
    for (const place of places) await place[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true, force: true })
  })

  const run = (at: SmaltProcess, ...args: readonly string[]): Promise<Ended> =>
    runCommand(['metadata', ...args, '--url', at.url], { cwd: scratch })
  const edit = (path: string, change: (json: Editable) => void): void => {
    const file = join(scratch, path)
    const json = JSON.parse(readFileSync(file, 'utf8')) as Editable
    change(json)
    writeFileSync(file, JSON.stringify(json))
  }

  test('metadata: what is pulled and applied elsewhere is the same, and a second time nothing changes', async () => {
    const pulled = await run(smalt, 'pull', 'm')
    assert.deepEqual(
      [pulled.code, pulled.out],
      [
        0,
        [
          'm/customer/entity.json',
          'm/customer/1.0.0.json',
          'm/order/entity.json',
          'm/order/1.0.0.json',
          '',
        ].join('\n'),
      ],
      pulled.err,
    )
    assert.deepEqual(
      JSON.parse(readFileSync(join(scratch, 'm/customer/1.0.0.json'), 'utf8')).fields,
      CUSTOMER.schema.fields,
    )
    assert.equal((await run(smalt, 'pull', 'm')).out, 'no changes\n')
    assert.deepEqual(
      [(await run(smalt, 'diff', 'm')).code, (await run(smalt, 'apply', 'm')).out],
      [0, 'no changes\n'],
    )
    const shown = await run(other, 'diff', 'm')
    assert.deepEqual([shown.code, shown.out], [7, '+ customer (1.0.0)\n+ order (1.0.0)\n'])
    const rehearsed = await run(other, 'apply', 'm', '--dry-run')
    assert.match(rehearsed.err, /nothing was changed/)
    assert.equal((await run(other, 'diff', 'm')).code, 7)
    const applied = await run(other, 'apply', 'm')
    assert.equal(applied.code, 0, applied.err)
    assert.equal((await run(other, 'apply', 'm')).out, 'no changes\n')
    await run(other, 'pull', 'n')
    for (const file of [
      'customer/entity.json',
      'customer/1.0.0.json',
      'order/entity.json',
      'order/1.0.0.json',
    ])
      assert.equal(
        readFileSync(join(scratch, 'n', file), 'utf8'),
        readFileSync(join(scratch, 'm', file), 'utf8'),
      )
  })

  test('metadata apply: adds a version and a status, refuses changed versions and unknown keys', async () => {
    const schema = { ...ORDER.schema, version: { value: '1.1.0', changelog: 'note' } }
    const text = JSON.stringify({ ...schema, fields: { ...schema.fields, note: { type: 'string' } } })
    writeFileSync(join(scratch, 'm/order/1.1.0.json'), text)
    edit('m/order/entity.json', (info) => (info['defaultVersion'] = '1.1.0'))
    edit('m/order/1.0.0.json', (version) => (version.status.value = 'deprecated'))
    const applied = await run(smalt, 'apply', 'm')
    assert.equal(
      applied.out,
      '~ order: defaultVersion\n~ order 1.0.0: status deprecated\n+ order 1.1.0\n',
      applied.err,
    )
    assert.equal(applied.code, 0)
    assert.equal((await run(smalt, 'diff', 'm')).out, 'no changes\n')
    edit('m/order/1.1.0.json', (version) => (version.fields['note']!.type = 'integer'))
    const changed = await run(smalt, 'apply', 'm')
    assert.equal(changed.code, 6)
    assert.match(changed.err, /a version does not change[^]*order 1\.1\.0: fields\.note\.type/)
    edit('m/order/1.1.0.json', (version) => (version.fields['note']!.type = 'string'))
    edit('m/order/entity.json', (info) => (info['indexs'] = []))
    const unknown = await run(smalt, 'apply', 'm')
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /indexs/)
    const kept = await run(smalt, 'apply', 'm', '--lenient')
    assert.equal(kept.code, 0, kept.err)
    assert.match(kept.err + kept.out, /entity info has no key .*indexs/)
    assert.equal((await run(smalt, 'diff', 'm', '--lenient')).code, 2)
    edit('m/order/entity.json', (info) => delete info['indexs'])
    assert.equal((await run(smalt, 'apply', 'm')).code, 0)
  })

  test('metadata apply: a disabled version is enabled before it becomes the default', async () => {
    edit('m/order/entity.json', (info) => (info['defaultVersion'] = '1.0.0'))
    edit('m/order/1.1.0.json', (version) => (version.status.value = 'disabled'))
    const back = await run(smalt, 'apply', 'm', '--yes')
    assert.equal(back.code, 0, back.err)
    edit('m/order/entity.json', (info) => (info['defaultVersion'] = '1.1.0'))
    edit('m/order/1.0.0.json', (version) => (version.status.value = 'disabled'))
    edit('m/order/1.1.0.json', (version) => (version.status.value = 'active'))
    const rehearsed = await run(smalt, 'apply', 'm', '--yes', '--dry-run')
    assert.equal(rehearsed.code, 0, rehearsed.err)
    assert.match(rehearsed.err, /^not checked, because a version is enabled first: order$/m)
    const forth = await run(smalt, 'apply', 'm', '--yes')
    assert.equal(forth.code, 0, forth.err)
    assert.match(forth.err, /^set order 1\.1\.0 to active first, because it is the default version$/m)
    assert.equal((await run(smalt, 'diff', 'm')).out, 'no changes\n')
    edit('m/order/1.0.0.json', (version) => (version.status.value = 'deprecated'))
    assert.equal((await run(smalt, 'apply', 'm')).code, 0)
  })

  test('metadata apply: a dry run asks the service about entity info, too', async () => {
    const data = [{ customer: 'same' }, { customer: 'same' }]
    assert.equal((await smalt.ask('PUT', '/data/insert/order', { data })).json.modifiedCount, 2)
    const before = readFileSync(join(scratch, 'm/order/entity.json'), 'utf8')
    edit(
      'm/order/entity.json',
      (info) => (info['indexes'] = [{ unique: true, fields: [{ field: 'customer' }] }]),
    )
    for (const more of [['--dry-run'], ['--yes']]) {
      const { code, err } = await run(smalt, 'apply', 'm', ...more)
      assert.deepEqual([code, /metadata:InvalidIndex/.test(err)], [1, true], err)
    }
    writeFileSync(join(scratch, 'm/order/entity.json'), before)
    assert.equal(
      (await smalt.ask('POST', '/data/delete/order', { query: { $and: [] } })).json.modifiedCount,
      2,
    )
  })

  test('metadata pull: a file that cannot be written is named, and nothing unfinished is left', async () => {
    const file = join(scratch, 'no-directory')
    writeFileSync(file, 'mine')
    for (const args of [
      ['metadata', 'pull', file, '--url', smalt.url],
      ['init', file],
    ]) {
      const { code, err } = await runCommand(args)
      assert.deepEqual([code, /^smalt: E[A-Z]+: .*no-directory/.test(err)], [1, true], err)
    }
    assert.equal(readFileSync(file, 'utf8'), 'mine')
    mkdirSync(join(scratch, 'p/order/entity.json'), { recursive: true })
    const { code, err } = await runCommand(['metadata', 'pull', 'p', '--url', smalt.url], { cwd: scratch })
    assert.equal(code, 1)
    assert.match(err, /^smalt: .*order\/entity\.json/)
    assert.deepEqual(readdirSync(join(scratch, 'p/order')), ['entity.json'])
  })

  test('metadata pull: removes nothing, and with --prune only what is metadata', async () => {
    const at = (path: string): string => join(scratch, 'q', path)
    const write = (path: string, content: string): void => {
      mkdirSync(join(at(path), '..'), { recursive: true })
      writeFileSync(at(path), content)
    }
    await run(smalt, 'pull', 'q')
    const own = ['data/tokens.json', 'src/package.json', 'order/notes.json', 'order/1.0.0.txt']
    const surplus = ['gone/entity.json', 'gone/1.0.0.json', 'order/9.0.0.json']
    for (const path of [...own, ...surplus]) write(path, '{"name":"gone"}')
    write('savedSearch/entity.json', '{}')
    const kept = await run(smalt, 'pull', 'q')
    assert.deepEqual([kept.code, kept.out.split('\n')[0]], [0, 'q/savedSearch/entity.json'])
    for (const path of surplus) assert.match(kept.err, new RegExp(`^kept q/${path}, `, 'm'))
    for (const path of own) assert.doesNotMatch(kept.err, new RegExp(path))
    for (const path of [...own, ...surplus, 'savedSearch/1.0.0.json']) assert.ok(existsSync(at(path)), path)
    const pruned = await run(smalt, 'pull', 'q', '--prune')
    assert.deepEqual(pruned.out.trimEnd().split('\n').sort(), surplus.map((path) => `q/${path}`).sort())
    for (const path of [...own, 'savedSearch/entity.json']) assert.ok(existsSync(at(path)), path)
    for (const path of [...surplus, 'gone']) assert.ok(!existsSync(at(path)), path)
  })

  test('metadata apply: an entity without any version is refused', async () => {
    mkdirSync(join(scratch, 'm/empty'))
    writeFileSync(join(scratch, 'm/empty/entity.json'), '{"name":"empty"}')
    const { code, err } = await run(smalt, 'apply', 'm')
    rmSync(join(scratch, 'm/empty'), { recursive: true })
    assert.equal(code, 3)
    assert.match(err, /m\/empty has no version, such as 1\.0\.0\.json/)
  })

  test('metadata apply: asks before it removes, and --prune removes entities without files', async () => {
    edit('m/customer/entity.json', (info) => delete info['hooks'])
    const asked = await startCli(['metadata', 'apply', 'm', '--url', smalt.url], { cwd: scratch }).ended
    assert.equal(asked.code, 2)
    assert.match(asked.err, /this removes the hook changes; nothing was changed, --yes agrees/)
    const agreed = await run(smalt, 'apply', 'm', '--yes')
    assert.equal(agreed.code, 0, agreed.err)
    const old = {
      entityInfo: { name: 'old', defaultVersion: '1.0.0' },
      schema: { ...ORDER.schema, name: 'old' },
    }
    assert.equal((await smalt.ask('PUT', '/metadata/old/1.0.0', old)).status, 200)
    assert.equal((await run(smalt, 'diff', 'm')).out, 'no changes\n')
    assert.equal((await run(smalt, 'diff', 'm', '--prune')).out, '- old\n')
    const pruned = await run(smalt, 'apply', 'm', '--prune', '--yes')
    assert.equal(pruned.code, 0, pruned.err)
    assert.deepEqual((await smalt.ask('GET', '/metadata')).json.entities, [
      'customer',
      'order',
      'savedSearch',
    ])
    // an entity with documents needs a flag of its own
    assert.equal((await smalt.ask('PUT', '/metadata/old/1.0.0', old)).status, 200)
    const filled = await smalt.ask('PUT', '/data/insert/old', { data: [{ _id: '1' }, { _id: '2' }] })
    assert.equal(filled.json.modifiedCount, 2, filled.text)
    const refused = await run(smalt, 'apply', 'm', '--prune', '--yes')
    assert.equal(refused.code, 6)
    assert.match(refused.err, /--delete-documents deletes them, too.*\n {2}old: 2 documents/)
    const all = ['metadata', 'apply', 'm', '--prune', '--delete-documents', '--url', smalt.url]
    const unasked = await startCli(all, { cwd: scratch }).ended
    assert.equal(unasked.code, 2)
    assert.match(
      unasked.err,
      /this removes the entity old with all its documents \(at least 2\); nothing was changed/,
    )
    assert.equal(
      (await smalt.ask('POST', '/data/find/old', { projection: { field: '_id' } })).json.matchCount,
      2,
    )
    const deleted = await run(smalt, 'apply', 'm', '--prune', '--delete-documents', '--yes')
    assert.equal(deleted.code, 0, deleted.err)
    assert.equal((await smalt.ask('PUT', '/metadata/old/1.0.0', old)).status, 200)
    assert.equal(
      (await smalt.ask('POST', '/data/find/old', { projection: { field: '_id' } })).json.matchCount,
      0,
    )
    assert.equal((await run(smalt, 'apply', 'm', '--prune', '--yes')).code, 0)
    assert.equal((await run(smalt, 'apply', 'm', '--delete-documents')).code, 2)
    rmSync(join(scratch, 'm/order/1.1.0.json'))
    await run(smalt, 'pull', 'm')
    assert.ok(existsSync(join(scratch, 'm/order/1.1.0.json')))
  })

  const rounds = 20
  test(`metadata apply: killed ${rounds} times, new entities arrive together, and repeated it comes to the same end`, async () => {
    cpSync(join(scratch, 'n'), join(scratch, 'k'), { recursive: true })
    const addPair = (round: number): void => {
      for (const name of [`a${round}`, `b${round}`]) {
        cpSync(join(scratch, 'n/order'), join(scratch, 'k', name), { recursive: true })
        for (const file of ['entity.json', '1.0.0.json'])
          edit(`k/${name}/${file}`, (json) => (json['name'] = name))
      }
    }
    const args = ['metadata', 'apply', 'k', '--url', smalt.url]
    addPair(0)
    const began = performance.now()
    assert.equal((await startCli(args, { cwd: scratch }).ended).code, 0)
    const fullMs = performance.now() - began
    for (let round = 1; round <= rounds; round++) {
      addPair(round)
      const { child, ended } = startCli(args, { cwd: scratch })
      // from before its first request until after its last one
      const timer = setTimeout(() => child.kill('SIGKILL'), fullMs * (0.5 + round / rounds / 2))
      await ended
      clearTimeout(timer)
      const names = new Set((await smalt.ask('GET', '/metadata')).json.entities as readonly string[])
      for (let i = 0; i <= round; i++)
        assert.equal(names.has(`a${i}`), names.has(`b${i}`), `pair ${i} in round ${round}`)
    }
    const last = await run(smalt, 'apply', 'k')
    assert.equal(last.code, 0, last.err)
    assert.equal((await run(smalt, 'diff', 'k')).out, 'no changes\n')
  })

  test('metadata: files that are wrong are named', async () => {
    const cases: readonly [path: string, text: string, problem: RegExp][] = [
      ['w1/x/entity.json', '{"name":"y"}', /"name" must be "x", as its directory/],
      ['w2/x/entity.json', '{"name":', /w2\/x\/entity\.json: the file is not valid JSON/],
      ['w3/x/1.0.0.json', '{"name":"x"}', /w3\/x has no entity\.json/],
    ]
    const { mkdirSync } = process.getBuiltinModule('node:fs')
    for (const [path, text, problem] of cases) {
      mkdirSync(join(scratch, path, '..'), { recursive: true })
      writeFileSync(join(scratch, path), text)
      const { code, err } = await run(smalt, 'diff', path.split('/')[0]!)
      assert.equal(code, 3)
      assert.match(err, problem)
    }
  })
})
