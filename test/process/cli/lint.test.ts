/** `smalt lint`, from outside: what it prints, and the number it ends with. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Service } from '../../../src/service/service.ts'
import { type Ended, runCommand } from '../../support/command.ts'
import { freshDatabase, rowsOf } from '../../support/postgres.ts'
import { ADMIN, metadataDocument, openServiceAt } from '../../support/service.ts'

const scratch = mkdtempSync(join(tmpdir(), 'smalt-lint-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const string = { type: 'string' }
const SOUND: JsonObject = { find: ['hr'], insert: ['hr'], update: ['hr'], delete: ['hr'] }

/** A store with what `fill` makes, closed again. */
async function stored(name: string, fill: (service: Service) => Promise<unknown>): Promise<string> {
  const directory = join(scratch, name)
  await using service = await openServiceAt(`sqlite:${directory}`)
  await fill(service)
  return directory
}

const create = (service: Service, entity: string, access?: JsonObject) =>
  service.metadata.create(
    ADMIN,
    { entity, version: '1.0.0' },
    metadataDocument(entity, { name: string }, access ? { schema: { access } } : {}),
  )

function run(...args: readonly string[]): Promise<Ended> {
  return runCommand(['lint', ...args])
}

test('smalt lint: warnings are printed and end it with 7', async () => {
  const directory = await stored('warned', (service) => create(service, 'open'))
  const { code, out, err } = await run('--data', directory)
  assert.deepEqual([code, err], [7, ''])
  assert.match(
    out,
    /^warning {2}open 1\.0\.0 {2}anyone-writes {2}\/schema\/access\/insert\n {2}"anyone" may insert/,
  )
})

test('smalt lint: a saved search that no index serves is a hint', async () => {
  const equal = (field: string): JsonObject => ({ field, op: '=', rvalue: '${value}' })
  const queries: Readonly<Record<string, JsonObject | string>> = {
    'by name': equal('name'),
    'by id': equal('_id'),
    'one of both': { $and: [equal('name'), equal('_id')] },
    'either of both': { $or: [equal('name'), equal('_id')] },
    'as text': '{"field":"name","op":"=","rvalue":${value}}',
    'any field': { field: '${field}', op: '=', rvalue: 1 },
    'all but one': { field: '_id', op: '!=', rvalue: 1 },
    everything: { $and: [] },
  }
  const directory = await stored('searches', async (service) => {
    await create(service, 'sound', SOUND)
    const data = Object.entries(queries).map(([name, query]) => ({ name, entity: 'sound', query }))
    const admin = { ...ADMIN, roles: new Set(['admin']) }
    const { modifiedCount } = await service.data.insert(admin, { entity: 'savedSearch' }, { data })
    assert.equal(modifiedCount, data.length)
  })
  const { code, out } = await run('--data', directory, '--entity', 'sound')
  assert.equal(code, 0)
  const named = [...out.matchAll(/hint {2}sound {2}search-without-index.*\n.*saved search "([^"]*)"/g)]
  assert.deepEqual(named.map(([, name]) => name).toSorted(), [
    'all but one',
    'as text',
    'by name',
    'either of both',
  ])
  assert.match(out, /which compares "name", so each run looks at all documents; add one to "indexes"/)
})

test('smalt lint: --json prints the findings of each entity, --entity those of one', async () => {
  const directory = await stored('json', async (service) => {
    await create(service, 'open')
    await create(service, 'sound', SOUND)
  })
  const all = await run('--data', directory, '--json')
  assert.equal(all.code, 7)
  const found = JSON.parse(all.out) as { entity: string; findings: JsonObject[] }[]
  assert.deepEqual(
    found.map(({ entity }) => entity),
    ['open', 'savedSearch', 'sound'],
  )
  assert.deepEqual(found[0]!.findings[0], {
    severity: 'warning',
    code: 'anyone-writes',
    at: '/schema/access/insert',
    version: '1.0.0',
    msg: '"anyone" may insert documents, whoever reaches the service; name the roles that may instead',
  })
  const one = await run('--data', directory, '--json', '--entity', 'sound')
  assert.deepEqual([one.code, JSON.parse(one.out)], [0, [{ entity: 'sound', findings: [] }]])
})

test('smalt lint: without warnings it ends with 0; hints are no warnings', async () => {
  const directory = await stored('sound', (service) => create(service, 'sound', { ...SOUND, delete: [] }))
  const { code, out } = await run('--data', directory)
  assert.match(out, /^hint {2}sound 1\.0\.0 {2}no-access {2}\/schema\/access\/delete\n/)
  assert.equal(code, 0)
  const quiet = await run('--data', directory, '--entity', 'savedSearch')
  assert.deepEqual([quiet.code, quiet.out], [0, 'nothing is doubtful\n'])
})

test('smalt lint: data in use is a conflict, and the message says what to do', async () => {
  const directory = join(scratch, 'used')
  await using _service = await openServiceAt(`sqlite:${directory}`)
  const { code, out, err } = await run('--data', directory)
  assert.deepEqual([code, out], [6, ''])
  assert.match(
    err,
    /in use by another Smalt process; end it first, or ask it itself: GET \/metadata\/\{entity\}\/lint/,
  )
})

test('smalt lint: where there is no store none is made', async () => {
  const directory = join(scratch, 'absent')
  const { code, err } = await run('--data', directory)
  assert.equal(code, 4)
  assert.match(err, /there is no store/)
  assert.equal(existsSync(directory), false)
})

test('smalt lint: a database without a store stays as it is', async (t) => {
  const database = await freshDatabase()
  t.after(() => database[Symbol.asyncDispose]())
  const schemas = () =>
    rowsOf(database.url, (schema) => `select 1 from pg_namespace where nspname = '${schema}'`)
  const { code, err } = await run('--store', database.url)
  assert.equal(code, 4)
  assert.match(err, /there is no store/)
  assert.deepEqual(await schemas(), [])
  {
    await using _service = await openServiceAt(database.url)
  }
  const made = await run('--store', database.url)
  assert.deepEqual([made.code, made.out], [0, 'nothing is doubtful\n'])
})

test('smalt lint: an unknown entity fails, and an option of another command is refused', async () => {
  const directory = await stored('unknown', (service) => create(service, 'sound', SOUND))
  const { code, err } = await run('--data', directory, '--entity', 'nothing')
  assert.equal(code, 1)
  assert.match(err, /there is no entity "nothing"/)
  const stray = await run('--role', 'x')
  assert.equal(stray.code, 2)
  assert.match(stray.err, /lint takes no --role/)
})
