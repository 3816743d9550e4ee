/** The watch over who asked: it lasts as long as the work it is for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Authentication } from '../../../src/auth/authentication.ts'
import { watchWork } from '../../../src/http/caller-watch.ts'
import type { Exchange } from '../../../src/http/exchange.ts'

test('caller watch: a stream that asks for the signal after the work has ended starts no second watch', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let checks = 0
  const auth = {
    isAuthenticated: () => true,
    isStillValid: async () => {
      checks++
      return true
    },
  } as Partial<Authentication> as Authentication
  const { signal } = new AbortController()
  const exchange = { getSignal: () => signal } as Partial<Exchange> as Exchange

  const early = watchWork(auth, exchange)
  early.getSignal()
  t.mock.timers.tick(500)
  assert.equal(checks, 1)
  early.end()

  const late = watchWork(auth, exchange)
  late.end()
  assert.equal(late.getSignal(), signal)
  t.mock.timers.tick(5_000)
  assert.equal(checks, 1)
})
