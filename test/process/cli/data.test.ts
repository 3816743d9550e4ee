/** The commands for documents, from outside, against a real process on every kind of store. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connectionFrom } from '../../../src/cli/client/connection.ts'
import { startCli } from '../../support/cli-process.ts'
import { type Ended, type Surroundings, runCommand } from '../../support/command.ts'
import { PROGRAM } from '../../support/program.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { type Place, freshPlace, onEveryStore } from '../../support/store-kind.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-data-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const FIELDS = {
  name: { type: 'string' },
  city: { type: 'string' },
  salary: { type: 'bigdecimal', access: { find: ['hr'], update: ['hr'] } },
  tags: { type: 'array', items: { type: 'string' } },
  home: { type: 'object', fields: { street: { type: 'string' } } },
}
const BERN = '{"field":"city","op":"=","rvalue":"Bern"}'
const ALL = '{"$and":[]}'

onEveryStore(() => {
  let place: Place
  let smalt: SmaltProcess

  before(async () => {
    place = await freshPlace()
    smalt = await startSmalt(place.location)
    const hooks = [{ name: 'all', actions: ['insert', 'update', 'delete'] }]
    const body = metadataDocument('employee', FIELDS, { info: { hooks, history: true } })
    assert.equal((await smalt.ask('PUT', '/metadata/employee/1.0.0', body)).status, 200)
  })
  after(async () => {
    await smalt[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })

  const run = (args: readonly string[], around: Surroundings = {}): Promise<Ended> =>
    runCommand([...args, '--url', smalt.url], { cwd: scratch, ...around })
  const rowsOf = ({ out }: Ended): unknown[] =>
    out
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown)

  test(
    'insert: standard input that is too large for one request is reported as such',
    { skip: process.platform === 'win32' && 'needs a Unix shell' },
    () => {
      // longer than the longest string
      const command = 'head -c 600000000 /dev/zero | "$0" "$@"'
      const args = [process.execPath, PROGRAM, 'insert', 'employee', '--url', smalt.url]
      const { status, stderr } = spawnSync('sh', ['-c', command, ...args], { encoding: 'utf8' })
      assert.match(
        stderr,
        /^smalt: standard input is larger than 256 MiB; smalt import reads files of any size/,
      )
      assert.equal(status, 2)
    },
  )

  test('insert: documents come from a word and from standard input, and their _id is printed', async () => {
    const ann =
      '{"_id":"1","name":"Ann","city":"Bern","salary":7100.50,"tags":["a","b"],"home":{"street":"x"}}'
    const inserted = await run(['insert', 'employee', ann, '--role', 'hr'])
    assert.deepEqual(inserted, { code: 0, out: '{"_id":"1"}\n', err: '1 document inserted\n' })
    const input =
      '{"_id":"2","name":"Bob","city":"Basel","salary":6200.00}\n{"_id":"3","name":"Cy","city":"Bern"}\n'
    const args = ['insert', 'employee', '--url', smalt.url, '--role', 'hr', '--format', 'json']
    const ended = await startCli(args, { cwd: scratch, input }).ended
    assert.deepEqual([ended.code, JSON.parse(ended.out)], [0, [{ _id: '2' }, { _id: '3' }]], ended.err)
    const latin = startCli(args, {
      cwd: scratch,
      input: Buffer.from('{"_id":"4","name":"Zo\u00eb"}', 'latin1'),
    })
    const refused = await latin.ended
    assert.deepEqual([refused.code, refused.out], [2, ''])
    assert.match(refused.err, /standard input is not valid UTF-8/)
    const broken = await startCli(args, { cwd: scratch, input: '\n\n{"_id":"4"}\n{"_id":}\n' }).ended
    assert.match(broken.err, /line 4 of standard input is not valid JSON/)
    const again = await run(['insert', 'employee', ann, '--role', 'hr'])
    assert.deepEqual([again.code, again.out], [6, ''])
    assert.match(again.err, /store-crud:Duplicate/)
  })

  const TEXTS: readonly [filter: string, names: readonly string[]][] = [
    ['city = "Bern"', ['Ann', 'Cy']],
    ['city = "Bern" and salary >= 7000', ['Ann']],
    ['not (name ~ /^a/i) or tags contains any ("b")', ['Ann', 'Bob', 'Cy']],
    ['name in ("Bob", "Cy") and city != "Bern"', ['Bob']],
  ]
  test('find: a filter as text', async () => {
    for (const [filter, names] of TEXTS) {
      const found = await run([
        'find',
        'employee',
        filter,
        '--sort',
        'name',
        '--fields',
        'name',
        '--role',
        'hr',
      ])
      assert.equal(found.code, 0, found.err)
      assert.deepEqual(
        rowsOf(found),
        names.map((name) => ({ name })),
        filter,
      )
    }
    const wrong = await run(['find', 'employee', 'city = '])
    assert.deepEqual([wrong.code, wrong.out], [1, ''])
    assert.match(wrong.err, /query-api:InvalidQuery/)
  })

  test('aggregate: groups, values, a filter as text, having and sort', async () => {
    const values = ['--value', 'people=count', '--value', 'total=sum:salary']
    const cities = ['aggregate', 'employee', '--by', 'city', ...values, '--sort', '-people', '--role', 'hr']
    const grouped = await run(cities)
    assert.equal(grouped.code, 0, grouped.err)
    assert.equal(
      grouped.out,
      '{"city":"Bern","people":2,"total":7100.50}\n{"city":"Basel","people":1,"total":6200.00}\n',
    )
    const many = await run([...cities, '--having', '{"field":"people","op":">","rvalue":1}'])
    assert.equal(many.out, '{"city":"Bern","people":2,"total":7100.50}\n')
    for (const having of ['people > 1', ' not (city = "Basel" or total < 7000)']) {
      const asText = await run([...cities, '--having', having])
      assert.equal(asText.out, many.out, asText.err)
    }
    const wrong = await run([...cities, '--having', 'people >'])
    assert.deepEqual([wrong.code, wrong.out], [2, ''])
    assert.match(wrong.err, /--having is no filter: .*line 1, column 9/)
    const one = await run(['aggregate', 'employee', 'city = "Bern"', ...values, '--role', 'hr'])
    assert.equal(one.out, '{"people":2,"total":7100.50}\n')
  })

  test('aggregate: periods of a time zone', async () => {
    const body = metadataDocument('sale', { date: { type: 'date' } })
    assert.equal((await smalt.ask('PUT', '/metadata/sale/1.0.0', body)).status, 200)
    const inserted = await run(['insert', 'sale', '{"date":"2024-01-31T23:30:00Z"}'])
    assert.equal(inserted.code, 0, inserted.err)
    const months = async (by: string) => rowsOf(await run(['aggregate', 'sale', '--by', by]))
    assert.deepEqual(await months('date:month'), [{ month: '20240101T00:00:00.000+0000' }])
    assert.deepEqual(await months('date:month:Europe/Zurich'), [{ month: '20240131T23:00:00.000+0000' }])
    assert.deepEqual(await months('sold=date:month'), [{ sold: '20240101T00:00:00.000+0000' }])
    assert.deepEqual(await months('day=date'), [{ day: '20240131T23:30:00.000+0000' }])
    const wrong = await run(['aggregate', 'sale', '--by', 'date:month:Bern'])
    assert.match(wrong.err, /a name of the IANA database/)
    const misused = await run(['aggregate', 'sale', '--by', 'date:'])
    assert.deepEqual([misused.code, misused.out], [2, ''])
  })

  test('find: every format, with filter, sort, fields and page', async () => {
    const sorted = await run([
      'find',
      'employee',
      BERN,
      '--sort',
      '-name',
      '--fields',
      'name',
      '--format',
      'ndjson',
    ])
    assert.deepEqual(sorted, { code: 0, out: '{"name":"Cy"}\n{"name":"Ann"}\n', err: '' })
    const page = await run([
      'find',
      'employee',
      '--sort',
      'name',
      '--limit',
      '1',
      '--offset',
      '1',
      '--fields',
      'name',
    ])
    assert.equal(page.out, '{"name":"Bob"}\n')
    const json = await run(['find', 'employee', '--json', '--role', 'hr', '--sort', '_id'])
    assert.match(json.out, /"salary": 7100\.50/)
    assert.deepEqual(
      (JSON.parse(json.out) as { name: string }[]).map(({ name }) => name),
      ['Ann', 'Bob', 'Cy'],
    )
    const csv = await run(['find', 'employee', '--format', 'csv', '--role', 'hr', '--sort', '_id'])
    assert.equal(
      csv.out,
      [
        '_id,name,city,salary,tags:json,home.street',
        '1,Ann,Bern,7100.50,"[""a"",""b""]",x',
        '2,Bob,Basel,6200.00,,',
        '3,Cy,Bern,,,',
        '',
      ].join('\r\n'),
    )
    const table = await run([
      'find',
      'employee',
      BERN,
      '--format',
      'table',
      '--fields',
      'name,tags',
      '--sort',
      'name',
    ])
    assert.equal(table.out, 'name  tags\n----  ---------\nAnn   ["a","b"]\nCy\n')
    assert.equal(table.err, '2 documents\n')
    const none = await run(['find', 'employee', '{"field":"name","op":"=","rvalue":"Zed"}', '--json'])
    assert.deepEqual(none, { code: 0, out: '[]\n', err: '' })
  })

  test('get: prints one document, also as of an earlier time, or fails', async () => {
    const found = await run(['get', 'employee', '1', '--role', 'hr'])
    assert.deepEqual([found.code, JSON.parse(found.out).name], [0, 'Ann'])
    const missing = await run(['get', 'employee', '9'])
    assert.deepEqual([missing.code, missing.out], [1, ''])
    assert.match(missing.err, /employee has no document with the _id 9/)
    const early = await run(['get', 'employee', '1', '--as-of', '2020-01-01T00:00:00Z'])
    assert.equal(early.code, 1)
  })

  test('update, delete: change what matches, and say how many', async () => {
    const raised = await run(['update', 'employee', BERN, '{"$set":{"city":"Thun"}}', '--fields', 'name'])
    assert.deepEqual([raised.code, raised.err], [0, '2 documents changed\n'])
    assert.deepEqual(rowsOf(raised), [{ name: 'Ann' }, { name: 'Cy' }])
    const denied = await run(['update', 'employee', ALL, '{"$set":{"salary":1}}'])
    assert.equal(denied.code, 1)
    assert.match(denied.err, /crud:update:NoFieldAccess/)
    const gone = await run(['delete', 'employee', '{"field":"_id","op":"=","rvalue":"3"}'])
    assert.deepEqual(gone, { code: 0, out: '', err: '1 document deleted\n' })
  })

  test('find: a refusal exits with 5 and gives the reason', async () => {
    const refused = await run(['find', 'employee', '{"field":"salary","op":">","rvalue":1}'])
    assert.deepEqual(refused, { code: 5, out: '', err: 'smalt: you may not read "salary" (crud:NoAccess)\n' })
    const unknown = await run(['find', 'nothing'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /crud:UnknownEntity/)
  })

  test('explain: prints SQL and plan', async () => {
    const explained = await run(['explain', 'employee', BERN])
    assert.equal(explained.code, 0, explained.err)
    assert.match(explained.out, /"sql"/)
  })

  test('events: prints stored events, and follows new ones', async () => {
    const stored = await run(['events', '--entity', 'employee', '--operation', 'insert', '--role', 'hr'])
    assert.deepEqual(
      rowsOf(stored).map((event) => (event as { documentId: string }).documentId),
      ['1', '2', '3'],
    )
    const args = ['events', '--follow', '--entity', 'employee', '--since', '0', '--url', smalt.url]
    const following = startCli(args, { cwd: scratch })
    const seen: string[] = []
    const isThere = Promise.withResolvers<void>()
    following.child.stdout!.on('data', (chunk) => {
      seen.push(...String(chunk).split('\n'))
      if (seen.some((line) => line.includes('"documentId":"new"'))) isThere.resolve()
    })
    assert.equal((await run(['insert', 'employee', '{"_id":"new"}'])).code, 0)
    await isThere.promise
    following.child.kill('SIGINT')
    assert.equal((await following.ended).code, 130)
  })

  test('connection: the variable SMALT_URL, and a profile whose token goes to its own address only', async () => {
    const byVariable = await runCommand(['find', 'employee', '--fields', '_id'], {
      environment: { SMALT_URL: smalt.url },
    })
    assert.equal(byVariable.code, 0, byVariable.err)
    const home = join(scratch, `home-${Math.random()}`)
    const file = join(home, 'smalt', 'profiles.json')
    mkdirSync(join(home, 'smalt'), { recursive: true })
    writeFileSync(
      file,
      JSON.stringify({ default: { url: smalt.url }, far: { url: 'http://127.0.0.1:1', token: 'secret' } }),
    )
    const environment = { XDG_CONFIG_HOME: home }
    const open = await runCommand(['find', 'employee'], { environment })
    assert.equal(open.code, 3)
    assert.match(open.err, /chmod 600/)
    chmodSync(file, 0o600)
    assert.equal((await runCommand(['find', 'employee'], { environment })).code, 0)
    const far = await runCommand(['find', 'employee', '--profile', 'far'], { environment })
    assert.deepEqual([far.code, /secret/.test(far.err)], [4, false])
    // a profile that a flag names is stronger than variables
    const elsewhere = { ...environment, SMALT_URL: 'http://127.0.0.1:1', SMALT_TOKEN: 'of-another-service' }
    const here = await runCommand(['find', 'employee', '--profile', 'default'], { environment: elsewhere })
    assert.equal(here.code, 0, here.err)
    const headersTo = (url: string): unknown =>
      connectionFrom({ profile: 'default' }, { ...elsewhere, SMALT_URL: url }).headers
    assert.deepEqual(headersTo('http://127.0.0.1:1'), {}, 'the token is for another service')
    assert.deepEqual(headersTo('an unused variable'), {})
    assert.deepEqual(headersTo(smalt.url), { authorization: 'Bearer of-another-service' })
    const ofFlag = connectionFrom({ profile: 'far' }, { ...elsewhere, SMALT_URL: smalt.url })
    assert.deepEqual(ofFlag, { base: 'http://127.0.0.1:1', headers: { authorization: 'Bearer secret' } })
    const ofVariables = connectionFrom({}, { ...elsewhere, SMALT_PROFILE: 'default' })
    assert.deepEqual(ofVariables, {
      base: 'http://127.0.0.1:1',
      headers: { authorization: 'Bearer of-another-service' },
    })
    const wrong = await runCommand(['find', 'employee', '--profile', 'fra'], { environment })
    assert.deepEqual([wrong.code, /did you mean "far"/.test(wrong.err)], [3, true])
  })
})

const MISUSED: readonly [args: readonly string[], problem: RegExp][] = [
  [['find'], /find takes ENTITY \[FILTER\]/],
  [['find', 'e', 'city', '=', 'Bern'], /quote a filter/],
  [
    ['find', 'e', '--format', 'jsn'],
    /--format must be table, json, ndjson, csv, not jsn; did you mean json\?/,
  ],
  [['find', 'e', '--json', '--format', 'csv'], /--json and --format csv differ/],
  [['find', 'e', '{"field":'], /the query is not valid JSON/],
  [['find', 'e', '--token', 'smalt_…'], /the token must have visible characters of ASCII only/],
  [['find', 'e', '--token', ''], /the token must have/],
  [['find', 'e', '--limit', '0'], /--limit must be a whole number from 1 on/],
  [['find', 'e', '--sort', 'a,,b'], /--sort must be fields separated by commas/],
  [['find', 'e', '--port', '1'], /find takes no --port/],
  [['get', 'e'], /get takes ENTITY ID/],
  [['insert', 'e', 'file.json'], /smalt import reads files/],
  [['update', 'e', 'true', '{'], /the update is not valid JSON/],
  [['delete', 'e'], /delete takes ENTITY FILTER/],
  [['aggregate', 'e', '--value', 'total=summ:x'], /--value must be NAME=count/],
  [['aggregate', 'e', '--value', 'n=count', '--value', 'n=sum:x'], /two values have the name n/],
  [['completion', 'bsh'], /completion takes bash, zsh, fish; did you mean bash\?/],
]

for (const [args, problem] of MISUSED) {
  test(`smalt ${args.join(' ')}: is misuse`, async () => {
    const { code, out, err } = await runCommand(args, { cwd: scratch })
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, problem)
  })
}

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`completion: the script for ${shell} names every command and its options`, async () => {
    const { code, out } = await runCommand(['completion', shell], { cwd: scratch })
    assert.equal(code, 0)
    for (const name of ['find', 'aggregate', 'import', 'completion'])
      assert.match(out, new RegExp(`\\b${name}\\b`))
    assert.match(out, shell === 'fish' ? /-l sort\b/ : /--sort\b/)
  })
}

test('completion: bash completes commands and the options of a command', async () => {
  const { out } = await runCommand(['completion', 'bash'], { cwd: scratch })
  const script = `${out}
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _smalt; printf '%s\\n' "\${COMPREPLY[@]}"; }
complete_words smalt fi
complete_words smalt find employee --so`
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const printed = execFileSync('bash', ['-c', script], { encoding: 'utf8' })
  assert.deepEqual(printed.trim().split('\n'), ['find', '--sort'])
})
