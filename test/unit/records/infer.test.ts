/** Metadata that are proposed for files of the shapes that people have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { inferMetadata } from '../../../src/records/infer/infer.ts'
import { UnusableNames } from '../../../src/records/infer/refuse-names.ts'
import { readRecords } from '../../../src/records/read.ts'
import type { FileFormat } from '../../../src/records/record.ts'

async function infer(format: FileFormat, text: string, roles: readonly string[] = []) {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text)
  }
  async function* sampled() {
    for await (const record of readRecords(format, chunks(), { maxBytes: 1e6, maxDepth: 16 }))
      yield { record, isText: format === 'csv' }
  }
  const { metadata, notes } = await inferMetadata(sampled(), { entity: 'e', version: '1.0.0', roles })
  const { entityInfo, schema } = metadata as { entityInfo: JsonObject; schema: JsonObject }
  return {
    fields: schema['fields'] as JsonObject,
    enums: entityInfo['enums'],
    access: schema['access'],
    notes,
  }
}

const rows = (count: number, row: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => row(i)).join('\n')

/** Type of each field, with `!` where it is required and `*` where it is the identity. */
function shortly(fields: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { type, constraints = {}, fields: inner, items } = field as Record<string, JsonObject>
      const mark = `${constraints['identity'] ? '*' : ''}${constraints['required'] ? '!' : ''}`
      const word = `${type as unknown as string}${mark}${constraints['enum'] ? ' enum' : ''}`
      if (inner) return [name, shortly(inner)]
      if (!items) return [name, word]
      return [name, [items['fields'] ? shortly(items['fields'] as JsonObject) : items['type']]]
    }),
  )
}

const CASES: readonly [rule: string, format: FileFormat, text: string, fields: object, note?: RegExp][] = [
  [
    'plain types',
    'csv',
    'i,d,b,s,t\n1,1.5,true,x,2024-01-02T03:04:05Z\n-2,2,false,y,2024-01-02T03:04:05.5+01:00\n',
    {
      i: 'integer',
      d: 'bigdecimal',
      b: 'boolean',
      s: 'string',
      t: 'date',
    },
    /no field identifies/,
  ],
  ['one row', 'csv', 'name,city\nAnn,Bern\n', { name: 'string', city: 'string' }],
  ['one row with an id', 'csv', 'id,city\n7,Bern\n', { id: 'integer*', city: 'string' }],
  [
    'semicolons, byte order mark and quotes',
    'csv',
    '\uFEFF"id";"full name"\r\n"1";"Ann; Bob"\r\n"2";""\r\n',
    {
      id: 'integer*',
      'full name': 'string',
    },
  ],
  [
    'tabs',
    'csv',
    'id\tname\tcity\n1\tAnn, Dr.\tBern\n2\tBob\tChur\n',
    { id: 'integer*', name: 'string', city: 'string' },
  ],
  ['bars', 'csv', 'id|name\n1|Ann\n2|Bob; Eve\n', { id: 'integer*', name: 'string' }],
  [
    'cells of several lines, with quotes and separators',
    'csv',
    'id,note\r\n1,"first line\r\nsecond, with a comma"\r\n2,"say ""hi"""\r\n',
    { id: 'integer*', note: 'string' },
  ],
  ['blank lines', 'csv', 'id,name\n1,Ann\n\n2,Bob\n\n\n', { id: 'integer*', name: 'string' }],
  ['no line break at the end', 'csv', 'id,x\n1,2', { id: 'integer*', x: 'integer' }],
  ['spaces around names', 'csv', 'id, name \n1, Ann \n', { id: 'integer*', name: 'string' }],
  [
    'numbers with a comma stay text',
    'csv',
    'id;price\n1;1.234,50\n2;99,90\n',
    { id: 'integer*', price: 'string' },
  ],
  [
    'words that only people read as booleans',
    'csv',
    'a,b\nyes,TRUE\nno,FALSE\n',
    { a: 'string', b: 'string' },
  ],
  [
    'days with gaps stay text',
    'csv',
    'id,born\n1,2001-02-03\n2,\n3,1999-12-31\n',
    { id: 'integer*', born: 'string' },
    /"born" has dates that are no instants/,
  ],
  ['instants with gaps', 'csv', 'id,at\n1,2024-01-02T03:04:05Z\n2,\n', { id: 'integer*', at: 'date' }],
  [
    'rows of another length',
    'csv',
    'a,b,c\n1,2\n3,4,5\n',
    { a: 'integer', b: 'integer', c: 'integer' },
    /1 records cannot be read/,
  ],
  ['a header with a byte order mark alone', 'csv', '\uFEFFa;b;c\n', {}, /there are no records/],
  ['one row with one column', 'csv', 'email\nann@example.com\n', { email: 'string*' }],
  [
    'telephone and account numbers',
    'csv',
    'phone,iban\n+41 44 000 00 00,CH93 0076 2011 6238 5295 7\n',
    { phone: 'string', iban: 'string' },
  ],
  ['exponents', 'csv', 'a\n1e3\n2E-4\n', { a: 'double' }],
  ['leading zeros are codes', 'csv', 'zip,n\n0301,1\n8000,2\n', { zip: 'string', n: 'integer' }],
  ['an empty column', 'csv', 'a,b\n1,\n2,\n', { a: 'integer' }],
  [
    'mixed dates stay text',
    'csv',
    'd,e\n2024-01-02,01/02/2024\n2024-01-02T03:04:05Z,3.4.2024\n',
    {
      d: 'string',
      e: 'string',
    },
    /"d" has dates that are no instants/,
  ],
  [
    'large numbers',
    'csv',
    'a,b,c\n9223372036854775807,9223372036854775808,1e400\n1,2,2.5\n',
    {
      a: 'integer',
      b: 'biginteger',
      c: 'bigdecimal',
    },
  ],
  [
    'exponents of which a double loses digits',
    'csv',
    'a,b,c,d,e,f\n1.2345678901234567890e3,1e3,1e-400,1.50e1,1e23,1e9999\n1,9007199254740993,1,0.10,5e-324,1\n',
    { a: 'bigdecimal', b: 'bigdecimal', c: 'bigdecimal', d: 'double', e: 'double', f: 'string' },
  ],
  [
    'exponents of which a double loses digits',
    'ndjson',
    '{"a":1e3,"b":[1e400],"c":1e2}\n{"a":0.12345678901234567890,"b":[1],"c":1}\n',
    { a: 'bigdecimal', b: ['bigdecimal'], c: 'double' },
  ],
  ['numbers and words', 'csv', 'a\n1\nn/a\n', { a: 'string' }],
  [
    'required, identity and enum with enough rows',
    'csv',
    `sku,state,note\n${rows(30, (i) => `s${i},${i % 2 ? 'open' : 'done'},${i === 3 ? '' : `n${i}`}`)}`,
    {
      sku: 'string*',
      state: 'string! enum',
      note: 'string',
    },
  ],
  [
    'a number that repeats is no identity',
    'csv',
    `id,x\n${rows(12, (i) => `${i % 6},${i}`)}`,
    { id: 'integer!', x: 'integer!' },
  ],
  [
    'the first column, if it is unique',
    'csv',
    `who,x\n${rows(12, (i) => `p${i},${i}`)}`,
    { who: 'string*', x: 'integer!' },
  ],
  [
    'objects and arrays of JSON',
    'ndjson',
    '{"_id":"a","o":{"x":1},"l":[{"q":1.5,"t":["a"]}],"n":[1,2]}\n{"_id":"b","o":{"y":"2024-01-02T03:04:05Z"},"l":[]}\n',
    {
      _id: 'string',
      o: { x: 'integer', y: 'date' },
      l: [{ q: 'bigdecimal', t: ['string'] }],
      n: ['integer'],
    },
  ],
  [
    'texts of JSON that look like numbers stay texts',
    'ndjson',
    '{"a":"1","b":1}\n{"a":"2","b":"x"}\n',
    { a: 'string', b: 'string' },
  ],
  ['values of several kinds', 'ndjson', '{"a":1}\n{"a":{"b":1}}\n', { a: 'any' }, /several kinds/],
  ['arrays of arrays', 'ndjson', '{"a":[[1]]}\n', { a: ['any'] }, /array of arrays/],
  ['null alone', 'ndjson', '{"a":null}\n', { a: 'string' }, /"a" has no values/],
  ['nothing', 'csv', 'a,b\n', {}, /there are no records/],
  [
    'columns of objects',
    'csv',
    'home.city,home.zip,tags:json\nBern,3000,"[""x""]"\n',
    {
      home: { city: 'string', zip: 'integer' },
      tags: ['string'],
    },
  ],
]

for (const [rule, format, text, fields, note] of CASES) {
  test(`infer ${format}: ${rule}`, async () => {
    const inferred = await infer(format, text)
    assert.deepEqual(shortly(inferred.fields), fields)
    if (note) assert.match(inferred.notes.join('\n'), note)
  })
}

const UNUSABLE: readonly [format: FileFormat, text: string, names: readonly string[]][] = [
  ['csv', 'id,tags.0,tags.1\n1,a,b\n', ['tags.0', 'tags.1']],
  ['csv', '5,$d,a#,n\n1,2,3,4\n', ['5', '$d', 'a#']],
  ['csv', 'tags:json,tags#,home.#\n[],0,1\n', ['home.#']],
  ['csv', '*,constructor,x\n1,2,3\n', ['*', 'constructor']],
  ['ndjson', '{"a.b":1,"l":[{"":1,"m#":2}]}\n', ['a.b', 'l.*.', 'l.*.m#']],
]

for (const [format, text, names] of UNUSABLE) {
  test(`infer ${format}: names that no field may have are refused: ${names.join(' ')}`, async () => {
    await assert.rejects(infer(format, text), (error) => {
      assert.ok(error instanceof UnusableNames)
      const lines = error.message.split('\n')
      assert.deepEqual(
        lines.slice(1, -1).map((line) => /"(.*?)": /.exec(line)?.[1]),
        names,
      )
      assert.match(lines.at(-1)!, /rename these columns/)
      return true
    })
  })
}

test('infer: sizes beside arrays are no fields', async () => {
  const { fields } = await infer('ndjson', '{"_id":"1","l":[{"m":[1],"m#":1}],"l#":1}\n')
  assert.deepEqual(shortly(fields), { _id: 'string', l: [{ m: ['integer'] }] })
  const absent = await infer(
    'ndjson',
    '{"_id":"1","name":"a","tags#":0}\n{"_id":"2","tags":null,"tags#":null}\n',
  )
  assert.deepEqual(shortly(absent.fields), { _id: 'string', name: 'string', tags: 'string' })
})

test('infer: a column without a name is named by its number', async () => {
  await assert.rejects(infer('csv', 'a,,b\n1,2,3\n'), /column 2 of the header has no name/)
})

test('infer: enums of fields with similar names have different names', async () => {
  const text = `ship.city,ship city,ship_city\n${rows(20, (i) => `a${i % 2},b${i % 2},c${i % 2}`)}`
  const { enums, fields } = await infer('csv', text)
  assert.deepEqual(enums, [
    { name: 'ship_city', values: ['a0', 'a1'] },
    { name: 'ship_city_2', values: ['b0', 'b1'] },
    { name: 'ship_city_3', values: ['c0', 'c1'] },
  ])
  assert.deepEqual(fields['ship_city'], {
    type: 'string',
    constraints: { required: true, enum: 'ship_city_3' },
  })
})

test('infer: an enum lists its values, and access has the given roles', async () => {
  const { enums, access } = await infer('csv', `s\n${rows(20, (i) => (i % 3 ? 'b' : 'a'))}`, ['clerk'])
  assert.deepEqual(enums, [{ name: 's', values: ['a', 'b'] }])
  assert.deepEqual(access, { find: ['clerk'], insert: ['clerk'], update: ['clerk'], delete: ['clerk'] })
})
