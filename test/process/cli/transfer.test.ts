/** `smalt import FILE…` and `smalt export`, and the route for imports, against a real process on every kind of store. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startCli } from '../../support/cli-process.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { PROGRAM } from '../../support/program.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { type Place, freshPlace, onEveryStore } from '../../support/store-kind.ts'

const FIELDS = {
  _id: { type: 'string' },
  name: { type: 'string', constraints: { required: true } },
  age: { type: 'integer' },
  price: { type: 'bigdecimal' },
  born: { type: 'date' },
  home: { type: 'object', fields: { city: { type: 'string' } } },
  tags: { type: 'array', items: { type: 'string' } },
  extra: { type: 'any' },
}

onEveryStore((kind) => {
  const scratch = mkdtempSync(join(tmpdir(), 'smalt-transfer-'))
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

  const run = (...args: readonly string[]): Promise<Ended> =>
    runCommand([...args, '--url', smalt.url], { cwd: scratch })
  const define = async (entity: string): Promise<void> => {
    const body = metadataDocument(entity, FIELDS, { info: { history: true } })
    assert.equal((await smalt.ask('PUT', `/metadata/${entity}/1.0.0`, body)).status, 200)
  }
  const write = (name: string, text: string): string => {
    writeFileSync(join(scratch, name), text)
    return name
  }
  const namesOf = async (entity: string): Promise<readonly string[]> => {
    const { out } = await run('find', entity, '--sort', '_id', '--fields', 'name')
    return out
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { name: string }).name]))
  }

  test('import: CSV, NDJSON and JSON give the same documents, and an export can be imported again', async () => {
    const csv =
      '_id;name;age;price;born;home.city;tags:json;extra:json\n1;Ann;42;7.10;2024-01-02T03:04:05Z;Bern;"[""a""]";"{""n"":1.50}"\n2;"";;;;;;\n'
    const document =
      '{"_id":"1","name":"Ann","age":42,"price":7.10,"born":"2024-01-02T03:04:05Z","home":{"city":"Bern"},"tags":["a"],"extra":{"n":1.50}}'
    write('a.csv', csv)
    write('b.ndjson', `${document}\n{"_id":"2","name":""}\n`)
    write('c.json', `[${document},{"_id":"2","name":""}]`)
    const exported = []
    for (const [i, file] of ['a.csv', 'b.ndjson', 'c.json'].entries()) {
      await define(`same${i}`)
      const imported = await run('import', file, '--entity', `same${i}`, '--json')
      assert.equal(imported.code, 0, imported.err)
      assert.deepEqual(
        { ...JSON.parse(imported.out), seconds: 0 },
        { imported: 2, rejected: 0, rejects: null, isResumed: false, seconds: 0 },
      )
      exported.push((await run('export', '--entity', `same${i}`)).out)
    }
    assert.match(exported[0]!, /"price":7\.10,.*"extra":\{"n":1\.50\}/)
    assert.equal(exported[1], exported[0])
    assert.equal(exported[2], exported[0])
    for (const format of ['ndjson', 'csv', 'json']) {
      await define(`again-${format}`)
      const file = join(scratch, `out.${format}`)
      const written = await run('export', '--entity', 'same0', '--format', format, '--output', file, '--json')
      assert.deepEqual([written.code, JSON.parse(written.out).documents], [0, 2], written.err)
      assert.equal((await run('import', file, '--entity', `again-${format}`)).code, 0)
      assert.equal((await run('export', '--entity', `again-${format}`)).out, exported[0], format)
      assert.equal((await run('export', '--entity', 'same0', '--output', file)).code, 6)
    }
  })

  test('import: a failure stops before its batch, or is written into the file of rejects', async () => {
    await define('faulty')
    const lines = [
      '{"_id":"1","name":"a"}',
      '{"_id":"2","name":"b"}',
      '{"_id":"3"}',
      'no json',
      '{"_id":"1","name":"c"}',
      '{"_id":"5","name":"e","wrong":1}',
      '{"_id":"6","name":"f"}',
    ]
    const file = write('faulty.ndjson', lines.join('\n'))
    const stopped = await run('import', file, '--entity', 'faulty', '--batch', '2')
    assert.deepEqual([stopped.code, stopped.out], [1, ''])
    assert.match(stopped.err, /faulty\.ndjson, line 4: the document is not valid JSON/)
    assert.deepEqual(await namesOf('faulty'), ['a', 'b'])
    const again = await run(
      'import',
      file,
      '--entity',
      'faulty',
      '--batch',
      '2',
      '--on-error',
      'skip',
      '--rejects',
      'r.ndjson',
      '--upsert',
    )
    assert.equal(again.code, 7, again.err)
    assert.match(again.out, /^imported 4 documents in [\d.]+ s; 3 rejected, see r\.ndjson\n$/)
    const rejects = readFileSync(join(scratch, 'r.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      rejects.map(({ line, errors }) => [line, errors[0].errorCode]),
      [
        [3, 'crud:Required'],
        [4, 'crud:InvalidRequest'],
        [6, 'metadata:InvalidFieldReference'],
      ],
    )
    assert.deepEqual([rejects[2].document.wrong, rejects[0].file], [1, 'faulty.ndjson'])
    assert.deepEqual(await namesOf('faulty'), ['c', 'b', 'f'])
    const one = await run('import', write('one.ndjson', '{"_id":"9","name":"g"}'), '--entity', 'faulty')
    assert.match(one.out, /^imported 1 document in /, one.err)
  })

  test('import: a repeated command goes on after what is done, and refuses another job', async () => {
    await define('resumed')
    const good = Array.from({ length: 6 }, (_, i) => `{"_id":"${i}","name":"n${i}"}`)
    const file = write('resumed.ndjson', [...good.slice(0, 4), '{"_id":"4"}', good[5]].join('\n'))
    const args = ['import', file, '--entity', 'resumed', '--batch', '2', '--resume', 'position']
    const stopped = await run(...args)
    assert.equal(stopped.code, 1)
    assert.match(stopped.err, /the same command goes on after 4 documents/)
    const other = await run(...args.slice(0, -2), '--upsert', '--resume', 'position')
    assert.equal(other.code, 6)
    const again = await run(...args)
    assert.deepEqual([again.code, await namesOf('resumed')], [1, ['n0', 'n1', 'n2', 'n3']])
    const skipped = await run(...args, '--on-error', 'skip', '--json')
    assert.deepEqual(
      [skipped.code, JSON.parse(skipped.out).imported, JSON.parse(skipped.out).isResumed],
      [7, 5, true],
    )
    assert.deepEqual(await namesOf('resumed'), ['n0', 'n1', 'n2', 'n3', 'n5'])
    assert.ok(!existsSync(join(scratch, 'position')))
  })

  const DIFFERENT: readonly [difference: RegExp, args: readonly string[]][] = [
    [/with another --delimiter;/, ['--delimiter', ';']],
    [/with other files, files that have changed since, or another --format;/, ['--format', 'ndjson']],
    [/with another --batch;/, ['--batch', '3']],
  ]

  test('import: the file of --resume names the option that differs', async () => {
    await define('other')
    const file = write('other.csv', '_id,name\n1,a\n2,\n')
    const args = ['import', file, '--entity', 'other', '--resume', 'other.position']
    assert.equal((await run(...args)).code, 1)
    for (const [difference, more] of DIFFERENT) {
      const { code, err } = await run(...args, ...more)
      assert.match(err, difference)
      assert.equal(code, 6)
    }
    assert.equal((await run(...args, '--on-error', 'skip')).code, 7)
  })

  test('import: a batch that may be stored is sent again as it was', async () => {
    await define('unacknowledged')
    const file = write('unacknowledged.json', '[{"_id":"1","name":"a"},{"_id":"2"}')
    const position = join(scratch, 'unacknowledged.position')
    const args = ['import', file, '--entity', 'unacknowledged', '--batch', '2', '--resume', position]
    assert.equal((await run(...args, '--on-error', 'skip')).code, 1)
    // as if the acknowledgement of the batch had been lost
    const state = JSON.parse(readFileSync(position, 'utf8'))
    writeFileSync(position, JSON.stringify({ ...state, position: { ...state.position, records: 0 } }))
    const stop = await run(...args)
    assert.match(stop.err, /was interrupted with --on-error skip, .*; go on with the same --on-error/)
    assert.equal(stop.code, 6)
    const skip = await run(...args, '--on-error', 'skip')
    assert.match(skip.err, /ends before it is complete/)
    assert.deepEqual(await namesOf('unacknowledged'), ['a'])
  })

  const rounds = 20
  test(`import: killed ${rounds} times, it comes to the same end`, async () => {
    await define('killed')
    const count = 6_000
    const text = Array.from(
      { length: count },
      (_, i) => `{"_id":"${String(i).padStart(5, '0')}","name":"n${i}"}`,
    ).join('\n')
    const file = write('killed.ndjson', text)
    const args = [
      'import',
      file,
      '--entity',
      'killed',
      '--batch',
      '50',
      '--upsert',
      '--resume',
      'killed.position',
      '--url',
      smalt.url,
    ]
    let kills = 0
    for (let round = 0; round < rounds; round++) {
      const { child, ended } = startCli(args, { cwd: scratch })
      // from the moment on at which it has stored something more, a little later in each round
      const before = positionIn(join(scratch, 'killed.position'))
      const timer = setInterval(() => {
        if (positionIn(join(scratch, 'killed.position')) > before + 50 * (round % 3)) child.kill('SIGKILL')
      }, 1)
      const { code } = await ended
      clearInterval(timer)
      if (code === 0) break
      kills++
    }
    assert.equal(kills, rounds)
    const last = await startCli(args, { cwd: scratch }).ended
    assert.equal(last.code, 0, last.err)
    const { out } = await run('export', '--entity', 'killed', '--fields', '_id,name')
    assert.equal(out.trimEnd(), text.replaceAll('"name"', '"name"'))
  })

  test('export: as of a time, continued after a cut line, filtered and with fields', async () => {
    await define('exported')
    const documents = Array.from({ length: 10 }, (_, i) => ({ _id: `d${i}`, name: `n${i}` }))
    assert.equal((await smalt.ask('PUT', '/data/insert/exported', { data: documents })).status, 200)
    const whole = (await run('export', '--entity', 'exported')).out
    const cut = write('cut.ndjson', whole.slice(0, whole.indexOf('"d4"') + 2))
    const continued = await run('export', '--entity', 'exported', '--output', cut, '--continue', '--json')
    assert.deepEqual([continued.code, JSON.parse(continued.out).documents], [0, 6], continued.err)
    assert.equal(readFileSync(join(scratch, cut), 'utf8'), whole)
    const filtered = await run(
      'export',
      '--entity',
      'exported',
      '--filter',
      '{"field":"name","op":"=","rvalue":"n3"}',
      '--fields',
      'name',
    )
    assert.equal(filtered.out, '{"name":"n3"}\n')
    const now = new Date().toISOString()
    assert.equal((await smalt.ask('POST', '/data/delete/exported', { query: { $and: [] } })).status, 200)
    assert.equal((await run('export', '--entity', 'exported', '--as-of', now)).out, whole)
    assert.equal((await run('export', '--entity', 'exported')).out, '')
  })

  test(
    'export: a file that cannot take all of it is a failure',
    { skip: process.platform === 'win32' && 'needs the ulimit of a Unix shell' },
    async () => {
      await define('full')
      const data = ['a', 'b', 'c'].map((_id) => ({ _id, name: 'x'.repeat(60_000) }))
      assert.equal((await smalt.ask('PUT', '/data/insert/full', { data })).status, 200)
      for (const rest of ['--output full.ndjson', '> full.ndjson', '--format json > full.json']) {
        const command = `ulimit -f 200; exec "$0" "$@" ${rest}`
        const args = [process.execPath, PROGRAM, 'export', '--entity', 'full', '--url', smalt.url]
        const ended = spawnSync('sh', ['-c', command, ...args], { cwd: scratch, encoding: 'utf8' })
        assert.equal(ended.status, 1, rest)
        assert.match(ended.stderr, /^smalt: (?:full\.ndjson|the output) cannot be written: EFBIG/m)
      }
      const continued = await run('export', '--entity', 'full', '--output', 'full.ndjson', '--continue')
      assert.equal(continued.code, 0, continued.err)
      assert.equal(
        readFileSync(join(scratch, 'full.ndjson'), 'utf8'),
        (await run('export', '--entity', 'full')).out,
      )
    },
  )

  test('export: --continue leaves a file alone that is no export', async () => {
    for (const text of ['my notes', 'my notes\nand more', '{"a":1}\n{"_id"', '{"name":"x"}']) {
      const file = write('notes.txt', text)
      const { code, err } = await run('export', '--entity', 'exported', '--output', file, '--continue')
      assert.deepEqual([code, readFileSync(join(scratch, file), 'utf8')], [1, text], err)
    }
  })

  test('import: a large document after small ones, as large as one request may hold', async () => {
    await define('large')
    const small = Array.from({ length: 38 }, (_, i) => ({ _id: `s${i}`, name: 'x'.repeat(100_000) }))
    const documents = [...small, { _id: 'large', name: 'y'.repeat(14_000_000) }, { _id: 'last', name: 'z' }]
    const file = write('large.ndjson', documents.map((each) => `${JSON.stringify(each)}\n`).join(''))
    const { code, out, err } = await run('import', file, '--entity', 'large', '--json')
    assert.equal(code, 0, err)
    assert.equal(JSON.parse(out).imported, documents.length)
  })

  test('import: rows that are much larger as JSON are sent in smaller batches, or reported', async () => {
    await define('escaped')
    // takes 6 bytes in JSON
    const name = '\u0001'
    const rows = Array.from({ length: 5 }, (_, i) => `${i},${name.repeat(900_000)}\n`)
    const file = write('escaped.csv', `_id,name\n${rows.join('')}large,${name.repeat(4_000_000)}\nlast,z\n`)
    const stopped = await run('import', file, '--entity', 'escaped')
    assert.match(stopped.err, /escaped\.csv, line 7: the document is larger .*limits\.bodyBytes/)
    assert.equal(stopped.code, 1)
    const args = ['import', file, '--entity', 'escaped', '--upsert', '--on-error', 'skip', '--json']
    const { code, out, err } = await run(...args)
    assert.equal(code, 7, err)
    assert.deepEqual([JSON.parse(out).imported, JSON.parse(out).rejected], [6, 1])
  })

  test('import --infer: shows metadata first, and creates the entity when told so', async () => {
    const file = write('people.csv', 'id,name,born\n1,Ann,2024-01-02T03:04:05Z\n2,Bob,2023-01-02T03:04:05Z\n')
    const shown = await run('import', file, '--entity', 'people', '--infer')
    assert.equal(shown.code, 0, shown.err)
    assert.match(shown.err, /nothing was written; --yes creates/)
    const { schema } = JSON.parse(shown.out)
    assert.deepEqual(schema.fields.born, { type: 'date' })
    assert.equal((await smalt.ask('GET', '/metadata/people')).json.length ?? 0, 0)
    const created = await run('import', file, '--entity', 'people', '--infer', '--yes')
    assert.equal(created.code, 0, created.err)
    assert.deepEqual([...(await namesOf('people'))].sort(), ['Ann', 'Bob'])
  })

  test('import --infer: refuses names that no field may have, and writes nothing', async () => {
    const file = write('named.csv', 'id,tags.0,tags.1\n1,a,b\n')
    for (const yes of [[], ['--yes']]) {
      const refused = await run('import', file, '--entity', 'named', '--infer', ...yes)
      assert.deepEqual([refused.code, refused.out], [1, ''])
      assert.match(refused.err, /"tags\.0": it reads as the index of an array element\n.*"tags\.1"/)
      assert.match(refused.err, /rename these columns/)
    }
    assert.equal((await smalt.ask('GET', '/metadata/named')).json.length ?? 0, 0)
  })

  test('POST /data/import: stores lines and rows as they arrive, and reports each that failed', async () => {
    await define('posted')
    const post = async (query: string, type: string, body: string): Promise<readonly unknown[]> => {
      const answer = await fetch(`${smalt.url}/data/import/posted${query}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      assert.equal(answer.status, 200)
      return (await answer.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
    }
    const lines = await post(
      '',
      'application/x-ndjson',
      '{"_id":"1","name":"a"}\n{"_id":"2"}\n{"_id":"3","name":"c"}\nx\n',
    )
    const failed = lines.slice(0, 2) as { line: number; errors: { errorCode: string }[] }[]
    assert.deepEqual(
      failed.map(({ line, errors }) => [line, errors[0]!.errorCode]),
      [
        [2, 'crud:Required'],
        [4, 'crud:InvalidRequest'],
      ],
    )
    assert.deepEqual(lines.slice(2), [
      { records: 4, modifiedCount: 2 },
      { last: true, status: 'PARTIAL', records: 4, modifiedCount: 2, failed: 2 },
    ])
    const rows = await post('/1.0.0?upsert=true', 'text/csv', '_id,name\n1,A\n4,d\n')
    assert.deepEqual(rows.at(-1), { last: true, status: 'COMPLETE', records: 2, modifiedCount: 2, failed: 0 })
    const stop = await post('?onError=stop&skip=1', 'text/csv', '_id,name\n9,x\n5,e\n1,twice\n')
    assert.deepEqual(stop.at(-1), { last: true, status: 'PARTIAL', records: 1, modifiedCount: 0, failed: 1 })
    assert.equal((stop[0] as { line: number }).line, 4)
    const none = await post('?skip=2', 'text/csv', '_id,name\n9,x\n5,e\n')
    assert.deepEqual(none.at(-1), { last: true, status: 'COMPLETE', records: 2, modifiedCount: 0, failed: 0 })
    const beyond = await post('?skip=3', 'text/csv', '_id,name\n9,x\n5,e\n')
    const { errors, ...last } = beyond.at(-1) as { errors: { errorCode: string; msg: string }[] }
    assert.deepEqual(last, { last: true, status: 'ERROR', records: 2, modifiedCount: 0, failed: 0 })
    assert.equal(errors[0]!.errorCode, 'crud:InvalidRequest')
    assert.match(errors[0]!.msg, /there are 2 records, of which 3 were to be left out/)
    const broken = await post('', 'text/csv', '_id,name\n6,"x\n')
    assert.deepEqual((broken.at(-1) as { status: string }).status, 'ERROR')
    assert.deepEqual(await namesOf('posted'), ['A', 'c', 'd'])
  })

  test('POST /data/import: many batches, more than a body may hold elsewhere, in order', async () => {
    await define(`many-${kind}`)
    const filler = 'x'.repeat(1_000)
    const total = 3_000
    async function* body(): AsyncGenerator<Buffer> {
      for (let i = 0; i < total; i++)
        yield Buffer.from(`{"_id":"${String(i).padStart(5, '0')}","name":"${filler}"}\n`)
    }
    const answer = await fetch(`${smalt.url}/data/import/many-${kind}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: body(),
      duplex: 'half',
    })
    const lines = (await answer.text()).trimEnd().split('\n')
    assert.deepEqual(JSON.parse(lines.at(-1)!), {
      last: true,
      status: 'COMPLETE',
      records: total,
      modifiedCount: total,
      failed: 0,
    })
    assert.ok(lines.length > 10, `${lines.length} lines`)
  })

  test('POST /data/import: what cannot begin is an ordinary error', async () => {
    await define('t')
    for (const [search, type, status, code] of REFUSED) {
      const answer = await fetch(`${smalt.url}/data/import/t${search}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: 'a\n1\n',
      })
      const { errors } = (await answer.json()) as { errors: { errorCode: string }[] }
      assert.deepEqual([answer.status, errors[0]!.errorCode], [status, code], `${search} ${type}`)
    }
    const unknown = await fetch(`${smalt.url}/data/import/none`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: 'a\n1\n',
    })
    assert.equal(unknown.status, 404)
  })
})

function positionIn(path: string): number {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { position: { records: number } }).position.records
  } catch {
    return 0
  }
}

const REFUSED: readonly [search: string, type: string, status: number, code: string][] = [
  ['', 'text/plain', 415, 'crud:UnsupportedMediaType'],
  ['?upsert=yes', 'text/csv', 400, 'crud:InvalidRequest'],
  ['?onError=ignore', 'text/csv', 400, 'crud:InvalidRequest'],
  ['?skip=-1', 'text/csv', 400, 'crud:InvalidRequest'],
  ['?delimiter=x', 'text/csv', 400, 'crud:InvalidRequest'],
  ['?delimiter=tab', 'application/x-ndjson', 400, 'crud:InvalidRequest'],
  ['?batch=1', 'text/csv', 400, 'crud:InvalidRequest'],
]

test('export: documents that take too long to be counted are exported', async () => {
  const timeout = {
    errors: [{ msg: 'the request took longer than 5000 ms', errorCode: 'store-crud:Timeout' }],
  }
  const lines = ['{"entity":"e"}', '{"processed":{"_id":"1"},"resultMetadata":{}}', '{"last":true}']
  const server = createServer((request, response) => {
    if (request.headers.accept === 'application/x-ndjson') response.end(lines.join('\n'))
    else response.writeHead(504).end(JSON.stringify(timeout))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, out, err } = await runCommand(['export', '--entity', 'e', '--url', url])
  server.closeAllConnections()
  server.close()
  assert.deepEqual([code, out], [0, '{"_id":"1"}\n'], err)
})

test('import: a directory is named as one', async () => {
  const { code, err } = await runCommand(['import', tmpdir(), '--entity', 'e'])
  assert.equal(code, 1)
  assert.match(err, / is a directory; name the files\n$/)
})

const MISUSED: readonly [args: readonly string[], problem: RegExp][] = [
  [['import'], /import takes files, or lightblue/],
  [['import', 'x.csv'], /import needs --entity/],
  [['import', 'x.dat', '--entity', 'e'], /the format of x\.dat is not clear/],
  [['import', 'x.xlsx', '--entity', 'e'], /x\.xlsx is a spreadsheet; save it as CSV/],
  [['import', '-', '--entity', 'e'], /standard input has no name; add --format ndjson, csv or json/],
  [['import', 'x.csv', '--entity', 'e', '--store', 'sqlite:x'], /import of files takes no --store/],
  [['import', 'lightblue', '--entity', 'e'], /import lightblue takes no --entity/],
  [
    ['import', '-', '--entity', 'e', '--format', 'csv', '--resume', 'p'],
    /standard input cannot be read a second time/,
  ],
  [['import', '-', '--entity', 'e', '--format', 'csv', '--infer'], /standard input cannot be read a second/],
  [
    ['import', '/dev/null', '--entity', 'e', '--format', 'csv', '--infer', '--yes'],
    /\/dev\/null, which is no regular file, cannot be read a second time, so it takes no --infer/,
  ],
  [
    ['import', '/dev/null', '--entity', 'e', '--format', 'csv', '--resume', 'p'],
    /\/dev\/null, which is no regular file, cannot be read a second time, so it takes no --resume/,
  ],
  [['import', 'x.csv', '--entity', 'e', '--on-error', 'go'], /--on-error must be stop or skip/],
  [['import', '-', '--entity', 'e', '--format', 'ndjson', '--delimiter', ';'], /--delimiter is only for CSV/],
  [['import', 'x.csv', '--entity', 'e', '--rejects', 'r'], /--rejects is only for --on-error skip/],
  [['export'], /export needs --entity/],
  [['export', '--entity', 'e', '--format', 'table'], /--format must be ndjson, csv, json/],
  [['export', '--entity', 'e', '--continue'], /--continue needs --output/],
]

for (const [args, problem] of MISUSED) {
  test(`smalt ${args.join(' ')}: is misuse`, async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'smalt-transfer-'))
    for (const name of ['x.csv', 'x.dat', 'x.xlsx']) writeFileSync(join(cwd, name), 'a\n1\n')
    const { code, out, err } = await runCommand(args, { cwd })
    rmSync(cwd, { recursive: true })
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, problem)
  })
}
