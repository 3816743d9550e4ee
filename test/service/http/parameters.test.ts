/** Query parameters: every route refuses those that it does not declare, and takes those that it does. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkParameters } from '../../../src/http/routes/parameters.ts'
import type { Route } from '../../../src/http/routes/route.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { type Harness, start } from './harness.ts'

let http: Harness
before(async () => {
  http = await start()
})
after(() => http.server.close())

const pathOf = ({ path }: Route): string => path.replaceAll(/\{\w+\}/g, 'x')

test('parameters: every route refuses an unknown one, listing those that it knows', async () => {
  for (const route of ROUTES.filter(({ takesOtherParameters }) => !takesOtherParameters)) {
    const where = `${route.method} ${route.path}`
    for (const search of ['dryRunn=true', 'x', '=1', 'STREAM=true', '%00=1']) {
      const body = route.body ? { body: '{}' } : {}
      const answer = await http.ask(route.method, `${pathOf(route)}?${search}`, body)
      assert.equal(answer.status, 400, `${where}?${search}: ${answer.text}`)
      const json = answer.json()
      const { errorCode, msg } = json.errors?.[0] ?? json
      assert.equal(errorCode, 'crud:InvalidRequest', where)
      for (const { name } of route.query ?? []) assert.ok(msg.includes(name), `${where}: ${msg}`)
    }
  }
})

test('parameters: the nearest known one is named', async () => {
  for (const [path, near] of [
    ['/data/find/x?maxresult=5', 'maxResults'],
    ['/data/find/x?form=5', 'from'],
    ['/data/generate/x/y?m=5', 'n'],
  ] as const) {
    const [{ msg }] = (await http.ask('GET', path)).json().errors
    assert.match(msg, new RegExp(`known are .*; did you mean "${near}"\\?`))
  }
  const [{ msg }] = (await http.ask('GET', '/data/find/x?completelyDifferent=5')).json().errors
  assert.doesNotMatch(msg, /did you mean/)
})

test('parameters: bytes that are no UTF-8 are refused, not replaced', async () => {
  for (const value of ['%ff', 'a%E4b', '%C3', '%c0%80', '%ED%A0%80', '%F4%90%80%80']) {
    for (const path of [`/data/find/x?Q=name:${value}`, `/data/find/x?${value}=1`]) {
      const answer = await http.ask('GET', path)
      assert.equal(answer.status, 400, path)
      assert.match(answer.json().errors[0].msg, /encode no UTF-8 text/, path)
    }
  }
  for (const value of ['%C3%A4', '%f0%9f%99%82', '%EF%BF%BD', '100%', '100%25', '%zz']) {
    assert.equal((await http.ask('GET', `/data/find/x?Q=name:${value}`)).status, 200, value)
  }
})

test('parameters: what a route declares is taken, once', () => {
  for (const route of ROUTES) {
    for (const { name } of route.query ?? []) {
      checkParameters(route, `${name}=1`)
      assert.throws(() => checkParameters(route, `${name}=1&${name}=1`), /is given twice/)
    }
  }
  const simple = ROUTES.find(({ operationId }) => operationId === 'simpleFind')!
  checkParameters(simple, 'q=a:b&p=*:1r&s=a:a')
  assert.throws(() => checkParameters(simple, 'q=a:b&Q=a:b'), /is given twice/)
})

test('parameters: a saved search takes the parameters of the search', () => {
  const search = ROUTES.find(({ operationId }) => operationId === 'simpleSearch')!
  checkParameters(search, 'country=CH&least=5&P=*:1r')
})

test('parameters: a long one is refused at once', async () => {
  const answer = await http.ask('GET', `/data/find/x?${'y'.repeat(20_000)}=1`)
  assert.equal(answer.status, 400)
})
