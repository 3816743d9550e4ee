import { test } from 'node:test'
import { openOffice, CLERK, BOSS } from './office.ts'
const office = openOffice()
test('x', async () => {
  const show = async (m: string, p: string, b?: any, roles = CLERK) => { const a = await office().ask(m, p, { roles, ...(b === undefined ? {} : { body: b }) }); console.log(m, p.slice(0,90), JSON.stringify(b)?.slice(0,200), '\n   ', a.status, a.text.slice(0, 900)) }
  const e = { field: '*', recursive: true }
  await show('POST', '/data/explain/person', { query: { field: 'name', op: '=', rvalue: 'LIT' }, projection: e })
  await show('POST', '/data/find/nope', { projection: e })
  await show('POST', '/data/find/person/9.9.9', { projection: e })
  await show('POST', '/data/find/person', { projection: e }, [])
  await show('POST', '/data/bulk', { requests: [{ seq: 1, op: 'bulk', request: { entity: 'person', requests: [] } }] })
  await show('PUT', '/data/insert/person', { data: { _id: '1', name: 'dup' } })
  await show('PUT', '/data/insert/person', { data: { name: 'dup', objectType: 'other', 'tags#': 9 } })
  await show('PUT', '/data/insert/person', { data: { name: 'dup', 'tags#': 9, tags: ['a'] }, projection: e })
  await show('PUT', '/data/insert/person', { data: { _id: { a: 1 }, name: 'dup' }, projection: e })
  await show('PUT', '/data/insert/person', { data: { _id: ['a'], name: { $ne: null } }, projection: e })
  await show('POST', '/data/update/person', { query: { field: '_id', op: '=', rvalue: '1' }, update: { $set: { _id: 'z', } }, projection: e })
  await show('POST', '/data/update/person', { query: { field: '_id', op: '=', rvalue: '1' }, update: { $set: { objectType: 'z', } }, projection: e })
  await show('POST', '/data/update/person', { query: { field: '_id', op: '=', rvalue: '1' }, update: { $set: { 'tags#': 7, } }, projection: e })
  await show('GET', '/data/generate/person/ticket?n=2')
  await show('GET', '/data/generate/person/ticket?n=2', undefined, [])
  await show('GET', '/data/generate/person/ssn')
  await show('GET', '/data/find/person?callback=x')
  await show('GET', "/data/find/person?Q=na'me:1")
  await show('GET', '/metadata/roles')
  await show('PUT', '/metadata/person/1.0.0', { a: 1 })
})
