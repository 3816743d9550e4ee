/** Files in parts: the records of the parts are those of the file, with the lines of the file. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRecords } from '../../../src/records/read.ts'
import type { FileFormat } from '../../../ui/client/import-client.ts'
import { RecordTooLarge, partsOf } from '../../../ui/schema/file-parts.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'

const RECORD_LIMITS = { maxBytes: 2 ** 20, maxDepth: 50 }

const FILES: readonly (readonly [name: string, format: FileFormat, text: string])[] = [
  ['an empty file', 'ndjson', ''],
  ['no newline at the end', 'ndjson', '{"a":1}\n{"a":2}'],
  ['blank lines', 'ndjson', '\n\n{"a":1}\n\n\n{"a":2}\n\n'],
  ['a header only', 'csv', 'a,b'],
  ['blank lines before the header', 'csv', '\n\na,b\n1,2\n3,4\n'],
  ['a byte order mark', 'csv', '\uFEFFa,b\n1,2\n3,4\n5,6\n'],
  ['a newline that ends no record', 'csv', 'a,b\r\n1\n1,2\r\n3,4\n4\r\n5,6'],
  ['newlines and quotes in cells', 'csv', '"a\n1",b\r\n"x\n\n""y""\n",2\r\n3,"4\n"\r\n5,6\r\n'],
]

for (const [name, format, text] of FILES) {
  test(`parts: ${name}`, async () => {
    for (const limits of [{ bytes: 4, records: 1 }, { bytes: 10, records: 2 }, undefined]) {
      await assertWhole(text, format, limits)
    }
  })
}

test('parts: random files in random parts', async () => {
  for (let i = 0; i < 300; i++) {
    const [format, text, limits] = sample(SEED + i, (chance) => {
      const format = chance.pick(['csv', 'ndjson'] as const)
      const text = format === 'csv' ? csvText(chance) : ndjsonText(chance)
      return [format, text, { bytes: 1 + chance.int(80), records: 1 + chance.int(6) }] as const
    })
    await assertWhole(text, format, limits, `seed ${SEED + i}`)
  }
})

test('parts: a quotation mark without its partner ends the reading', async () => {
  const text = `a,b\n"${'x'.repeat(2 ** 23)}\n`.repeat(2)
  await assert.rejects(async () => {
    for await (const _ of partsOf(new Blob([text.slice(0, -4)]), 'csv', { bytes: 8, records: 5 })) void _
  }, RecordTooLarge)
})

async function assertWhole(
  text: string,
  format: FileFormat,
  limits?: Parameters<typeof partsOf>[2],
  note = text,
): Promise<void> {
  const file = new Blob([text])
  const found: unknown[] = []
  let end = 0
  for await (const part of partsOf(file, format, limits)) {
    assert.ok(part.end > end, note)
    end = part.end
    found.push(...(await recordsIn(part.bytes, format, part.linesBefore)))
  }
  assert.equal(end, file.size, note)
  assert.deepEqual(found, await recordsIn(new Uint8Array(await file.arrayBuffer()), format, 0), note)
}

async function recordsIn(bytes: Uint8Array, format: FileFormat, linesBefore: number): Promise<unknown[]> {
  const found: unknown[] = []
  const chunks = (async function* () {
    yield bytes
  })()
  for await (const { line, ...record } of readRecords(format, chunks, RECORD_LIMITS)) {
    found.push({ line: line + linesBefore, ...record })
  }
  return found
}

function ndjsonText(chance: Chance): string {
  const lines = chance.list(20, () =>
    chance.pick(['{}', '', '{"a":1}', '{"b":"x\\ny"}', '{"broken"', '{"c":"ü"}']),
  )
  return lines.join(chance.pick(['\n', '\r\n'])) + chance.pick(['', '\n'])
}

function csvText(chance: Chance): string {
  const cell = (): string => chance.pick(['1', '', 'ü', '"x\ny"', '"a""b"', '"\n"', '""'])
  const rows = chance.list(20, () => `${cell()},${cell()}`)
  const newline = chance.pick(['\n', '\r\n'])
  return ['a,b', ...rows].join(newline) + chance.pick(['', newline])
}
