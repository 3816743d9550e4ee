/** Documents read from NDJSON, JSON arrays and CSV, in chunks of any size. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsFrom } from '../../../src/records/columns.ts'
import { csvLine } from '../../../src/records/csv-text.ts'
import { delimiterIn } from '../../../src/records/delimiter.ts'
import { readSmallNdjson } from '../../../src/records/ndjson.ts'
import { batchesOf, readRecords } from '../../../src/records/read.ts'
import { type FileFormat, RecordsError } from '../../../src/records/record.ts'

const LIMITS = { maxBytes: 1_000, maxDepth: 8 }

async function* cut(text: string | Buffer, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string)
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

async function read(format: FileFormat, text: string | Buffer, size = 1_000): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const record of readRecords(format, cut(text, size), LIMITS)) {
    lines.push(
      'document' in record
        ? `${record.line} ${JSON.stringify(record.document)}`
        : `${record.line} ! ${record.problem}`,
    )
  }
  return lines
}

const READ: readonly [rule: string, format: FileFormat, text: string, lines: readonly string[]][] = [
  ['one document per line', 'ndjson', '{"a":1}\n{"a":2}\n', ['1 {"a":1}', '2 {"a":2}']],
  ['no line end at the end', 'ndjson', '{"a":1}\n{"a":2}', ['1 {"a":1}', '2 {"a":2}']],
  [
    'byte order mark, CRLF, blank lines',
    'ndjson',
    '\uFEFF{"a":1}\r\n\r\n  \n{"a":2}\r\n',
    ['1 {"a":1}', '4 {"a":2}'],
  ],
  [
    'every digit stays',
    'ndjson',
    '{"a":1.10,"b":12345678901234567890}\n',
    ['1 {"a":1.10,"b":12345678901234567890}'],
  ],
  [
    'a bad line is reported, and the next one read',
    'ndjson',
    '{"a":\n[1]\n{"a":2}\n',
    [
      '1 ! the document is not valid JSON at position 5: it ends too early',
      '2 ! a document must be a JSON object',
      '3 {"a":2}',
    ],
  ],
  ['nothing', 'ndjson', '', []],
  ['an array of documents', 'json', '[{"a":1},\n {"b":"]}\\"{"}]\n', ['1 {"a":1}', '2 {"b":"]}\\"{"}']],
  ['a single document', 'json', ' {"a":{"b":[1]}}\n', ['1 {"a":{"b":[1]}}']],
  ['an empty array', 'json', '[ ]', []],
  [
    'quotes, separators and line breaks in cells',
    'csv',
    'a,b\n"x,1","say ""hi""\nthere"\n2,\n',
    ['2 {"a":"x,1","b":"say \\"hi\\"\\nthere"}', '4 {"a":"2"}'],
  ],
  ['an empty cell is absent, a quoted one is an empty text', 'csv', 'a,b,c\n,"",x\n', ['2 {"b":"","c":"x"}']],
  [
    'objects and JSON',
    'csv',
    'o.a,o.b,t:json\n1,2,"[1,{""x"":2.50}]"\n',
    ['2 {"o":{"a":"1","b":"2"},"t":[1,{"x":2.50}]}'],
  ],
  ['semicolons are detected', 'csv', '\uFEFFa;b\r\n1;"2;3"\r\n', ['2 {"a":"1","b":"2;3"}']],
  ['tabs are detected', 'csv', 'a\tb\n1\t2\n', ['2 {"a":"1","b":"2"}']],
  [
    'rows may end in different ways',
    'csv',
    'a,b\n1,2\r\n3,4\r5,"6\r\n"\n\r\n7,8\r\r\n9\r\n',
    [
      '2 {"a":"1","b":"2"}',
      '3 {"a":"3","b":"4"}',
      '4 {"a":"5","b":"6\\r\\n"}',
      '7 {"a":"7","b":"8"}',
      '9 ! the row has 1 cells, and the header has 2',
    ],
  ],
  [
    'the delimiter is that of the header, also if lines end with CR',
    'csv',
    'a,b\r1,w;x;y;z\r',
    ['2 {"a":"1","b":"w;x;y;z"}'],
  ],
  [
    'rows may end in another way than the header',
    'csv',
    'a,b\r\n1,2\n3,4\n',
    ['2 {"a":"1","b":"2"}', '3 {"a":"3","b":"4"}'],
  ],
  ['a header alone', 'csv', 'a,b\n', []],
  ['one column', 'csv', 'a\n1\n', ['2 {"a":"1"}']],
  [
    'a row of another length, JSON that is none',
    'csv',
    'a,b:json\n1\n1,{\n1,2\n',
    [
      '2 ! the row has 1 cells, and the header has 2',
      '3 ! the cell "b:json" is not valid JSON at position 1 (line 1 column 2): expected a name in double quotes',
      '4 {"a":"1","b":2}',
    ],
  ],
]

for (const [rule, format, text, lines] of READ) {
  test(`${format}: ${rule}`, async () => {
    for (const size of [1, 3, 1_000])
      assert.deepEqual(await read(format, text, size), lines, `chunks of ${size}`)
  })
}

const REFUSED: readonly [rule: string, format: FileFormat, text: string | Buffer, problem: RegExp][] = [
  [
    'a line that is too long',
    'ndjson',
    `{}\n{"a":"${'x'.repeat(2_000)}"}`,
    /^line 2: the document is larger than 1000 bytes/,
  ],
  ['a document that is too long', 'json', `[{"a":"${'x'.repeat(2_000)}"}]`, /larger than 1000 bytes/],
  ['text between documents', 'json', '[{} x]', /must be an array of documents/],
  ['a missing comma', 'json', '[{}{}]', /must be an array of documents/],
  ['an end that is missing', 'json', '[{}', /ends before it is complete/],
  ['numbers', 'json', '[1]', /must be an array of documents/],
  ['a quote without end', 'csv', 'a\n"x\n', /^line 2: a quote that begins here has no end/],
  [
    'a quote without end far before it',
    'csv',
    'a,b\n\n1,"2\r\n"\n\n"x\n3,4\n',
    /^line 6: a quote that begins here/,
  ],
  ['a quote without end in a later cell', 'csv', 'a,b\n1,"x\n3,4\n', /^line 2: a quote that begins here/],
  [
    'a quote after line breaks in a cell',
    'csv',
    'a,b\n1,"\r\n\r\n"\n2,3"\n',
    /^line 5: a quote stands inside/,
  ],
  ['a quote inside of a cell', 'csv', 'a,b\n"x"y,1\n', /a quote stands inside of a cell/],
  [
    'a quote in a cell without quotes',
    'csv',
    'a,b\n1,27" screen\n',
    /^line 2: a quote stands inside of a cell/,
  ],
  ['a column twice', 'csv', 'a,a\n1,2\n', /"a" stands twice/],
  ['a column inside of another', 'csv', 'a,a.b\n1,2\n', /"a\.b" lies inside of the column "a"/],
  ['a column without a name', 'csv', 'a,\n1,2\n', /column 2 of the header has no name/],
  ['a row that is too long', 'csv', `a\n${'x'.repeat(2_000)}\n`, /the row is larger than 1000 bytes/],
  ['Latin-1', 'csv', Buffer.from('a\nZ\u00fcrich\n', 'latin1'), /not valid UTF-8; save the file as UTF-8/],
]

for (const [rule, format, text, problem] of REFUSED) {
  test(`${format}: refuses ${rule}`, async () => {
    for (const size of [7, 10_000])
      await assert.rejects(
        read(format, text, size),
        (error) => error instanceof RecordsError && problem.test(error.message),
      )
  })
}

test('csv: printed cells are read back as they were', async () => {
  const cells = [
    'plain',
    '',
    'a,b',
    'say "x"',
    'two\nlines',
    ' padded ',
    'a;b',
    '\uFEFFmark',
    "'",
    'tab\there',
  ]
  const names = cells.map((_, i) => `c${i}`)
  const [line] = await read('csv', csvLine(names) + csvLine(cells))
  assert.equal(line, `2 ${JSON.stringify(Object.fromEntries(names.map((name, i) => [name, cells[i]!])))}`)
})

test('columns: a path may not name __proto__', () => {
  assert.throws(() => columnsFrom(['__proto__.x'], 8), /not allowed as a column/)
})

test('columns: a path has no more steps than a document may have levels', async () => {
  const header = (steps: number): string => Array.from({ length: steps }, (_, i) => `s${i}`).join('.')
  assert.equal((await read('csv', `${header(8)}\nx\n`)).length, 1)
  await assert.rejects(read('csv', `${header(9)}\nx\n`), /line 1: the column "s0.s1.* has more than 8 steps/)
})

test('columns: a header is bounded', () => {
  const names = Array.from({ length: 10_001 }, (_, i) => `c${i}`)
  assert.throws(() => columnsFrom(names, 8), /more than 10000 columns/)
  assert.equal(columnsFrom(names.slice(1), 8).length, 10_000)
  assert.throws(() => columnsFrom(['n'.repeat(10_001)], 8), /"n{100}…" has a name of more than 10000/)
})

test('csv: the names in a document count towards its size', async () => {
  const sizes: number[] = []
  for await (const record of readRecords('csv', cut('long-name,b\nx,\n,y\n', 64), LIMITS))
    sizes.push(record.bytes)
  assert.deepEqual(sizes, [3 + 9, 3 + 1])
})

test('ndjson: empty lines count', async () => {
  assert.deepEqual(await read('ndjson', '\n\n{"a":1}\n\n \n{"a":2}', 1), ['3 {"a":1}', '6 {"a":2}'])
})

test('csv: empty lines count', async () => {
  const rows = ['4 {"a":"1"}', '6 {"a":"x\\n\\ny"}', '12 {"a":"2"}', '13 {"a":"3"}']
  for (const end of ['\n', '\r\n']) {
    const text = ['', '', 'a', '1', '', '"x\n\ny"', '', '', '', '2', '3'].join(end)
    assert.deepEqual(await read('csv', text), rows, JSON.stringify(end))
  }
})

test('csv: a line break in a cell is one line, whatever its characters are', async () => {
  for (const end of ['\n', '\r\n']) {
    const text = ['a,b', '"x', 'y","', '"', '', '1,2', '"z",3', '4,5'].join(end)
    const lines = (await read('csv', text)).map((row) => row.split(' ')[0])
    assert.deepEqual(lines, ['2', '6', '7', '8'], JSON.stringify(end))
  }
})

test('delimiter: the one that separates most cells, outside of quotes', () => {
  const cases = [
    ['a,b;c,d', ','],
    ['"a,b,c";d;e', ';'],
    ['a|b', '|'],
    ['alone', ','],
    ['a\tb,c\td', '\t'],
  ] as const
  for (const [text, delimiter] of cases) assert.equal(delimiterIn(text), delimiter, text)
})

test('ndjson: large records may be left unparsed, and only those', async () => {
  const large = `{"a":"${'x'.repeat(50)}"}`
  const lines = [
    '\ufeff{"a":1}',
    large,
    ' '.repeat(60),
    `${' '.repeat(60)}no JSON`,
    '{"a":2}',
    `"${'y'.repeat(60)}`,
  ]
  const limits = { ...LIMITS, parsedBytes: 40 }
  const found: string[] = []
  for await (const record of readSmallNdjson(cut(lines.join('\n'), 16), limits)) {
    const text = 'text' in record ? `unparsed ${Buffer.from(record.text).toString().trim()}` : ''
    found.push(`${record.line} ${'document' in record ? JSON.stringify(record.document) : text}`)
  }
  assert.deepEqual(found, [
    '1 {"a":1}',
    `2 unparsed ${large}`,
    '4 unparsed no JSON',
    '5 {"a":2}',
    `6 unparsed "${'y'.repeat(60)}`,
  ])
  const invalid = Buffer.concat([Buffer.alloc(60, 0x20), Buffer.from([0xff])])
  const chunks = (async function* () {
    yield invalid
  })()
  const [record] = await Array.fromAsync(readSmallNdjson(chunks, limits))
  assert.deepEqual(record, { line: 1, problem: 'the line is not valid UTF-8', bytes: 62 })
})

test('csv: the error about Latin-1 names a line near it, whatever ends the lines', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const rows = ['a', '1', '2', '3', 'Z\u00fcrich', ''].join(end)
    await assert.rejects(read('csv', Buffer.from(rows, 'latin1'), 1), { message: /^line 5: / })
  }
})

test('batches: a record may make one of its own', async () => {
  const source = [1, 1, 9, 1, 9, 9, 1].map((bytes, i) => ({ bytes, i }))
  const options = { count: 3, bytes: 100, isAlone: ({ bytes }: { readonly bytes: number }) => bytes === 9 }
  const batches = async (skip: number) =>
    await Array.fromAsync(
      batchesOf(
        (async function* () {
          yield* source
        })(),
        { ...options, skip },
      ),
      ({ first, records }) => [first, ...records.map(({ i }) => i)],
    )
  const all = [
    [0, 0, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 5],
    [6, 6],
  ]
  assert.deepEqual(await batches(0), all)
  assert.deepEqual(await batches(2), all.slice(1))
  assert.deepEqual(await batches(4), all.slice(3))
})

test('batches: where one ends does not depend on where the reading began', async () => {
  const text = Array.from({ length: 50 }, (_, i) => JSON.stringify({ a: 'x'.repeat((i * 7) % 40) })).join(
    '\n',
  )
  const batches = async (skip: number): Promise<readonly (readonly number[])[]> => {
    const found: number[][] = []
    const options = { count: 6, bytes: 150, skip }
    for await (const { records } of batchesOf(readRecords('ndjson', cut(text, 64), LIMITS), options))
      found.push(records.map(({ line }) => line))
    return found
  }
  const all = await batches(0)
  assert.equal(all.flat().length, 50)
  let done = 0
  for (const [i, batch] of all.entries()) {
    assert.deepEqual(await batches(done), all.slice(i))
    done += batch.length
  }
})
