/** One server for a file of bad input, and the one way in which every refusal is checked. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { countryInfo, country, defineSeed, sound, store } from '../seed/fixture.ts'
import { type Answer, type Ask, type TestServer, startTestServer } from '../../support/server.ts'

export interface BadInput {
  readonly server: () => TestServer
  /** Sends what must be refused, and checks that nothing came of it. */
  readonly refused: (request: BadRequest, refusal: Refusal) => Promise<void>
}

export interface BadRequest extends Ask {
  readonly method: string
  readonly path: string
}

export interface Refusal {
  readonly status: number
  readonly code: string
  /** What the message says of the place. */
  readonly place?: RegExp
}

export const ONE = { _id: '1', ...country('CH', 'Switzerland', 9) }

export function badInput(): BadInput {
  let server: TestServer
  let stored = ''
  before(async () => {
    server = await startTestServer()
    await defineSeed(server)
    await store(server, 'country', [{ ...ONE, places: [{ name: 'Bern', height: 540 }] }])
    stored = await everything(server)
  })
  after(async () => {
    assert.deepEqual(server.faults(), [])
    assertUnpolluted()
    await server[Symbol.asyncDispose]()
  })
  return {
    server: () => server,
    async refused({ method, path, ...ask }, refusal) {
      checkRefusal(await server.ask(method, path, ask), refusal)
      // alive, and nothing stored or changed
      assert.equal(await everything(server), stored)
      assertUnpolluted()
    },
  }
}

export function checkRefusal(answer: Answer, { status, code, place }: Refusal): void {
  assert.equal(answer.status, status, answer.text.slice(0, 1_000))
  const { errors: [error] = [answer.json] } = answer.json
  assert.deepEqual(Object.keys(error), ['objectType', 'context', 'errorCode', 'msg'])
  assert.equal(error.errorCode, code, error.msg)
  assert.ok(error.context !== '' && error.msg !== '')
  assert.doesNotMatch(
    error.msg,
    /undefined|\[object|SQLITE|at or near|invalid input syntax|relation "|TypeError|at file:/,
  )
  if (place) assert.match(error.msg, place)
}

async function everything({ ask }: TestServer): Promise<string> {
  const parts = [
    await ask('GET', '/data/find/country'),
    await ask('GET', '/data/find/staff', { roles: ['boss'] }),
    await ask('GET', '/metadata'),
    await ask('GET', '/metadata/country/1.0.0'),
  ]
  return parts.map((part) => sound(part).text).join('\n')
}

const MEMBERS = Object.getOwnPropertyNames(Object.prototype).sort().join()

export function assertUnpolluted(): void {
  assert.equal(Object.getOwnPropertyNames(Object.prototype).sort().join(), MEMBERS)
  assert.equal(Object.getPrototypeOf(Object.prototype), null)
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
}

export { countryInfo }
