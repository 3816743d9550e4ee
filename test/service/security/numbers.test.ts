/** Row 11: numbers stay what was sent, at every entry point. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberFrom } from '../../../src/base/json/parse-trusted.ts'
import { ENTRY_POINTS } from './entry-points.ts'
import { openOffice } from './office.ts'
import { onEveryStore } from '../../support/store-kind.ts'

onEveryStore(() => {
  const office = openOffice()

  test('numbers: beyond 2^53 neighbours are told apart at every entry point', async () => {
    await office().define(
      'big',
      { _id: { type: 'string' }, n: { type: 'integer' } },
      { info: { history: true } },
    )
    for (const [stored, digits, matches] of [
      ['1152921504606847000', '1152921504606847000', 1],
      ['1152921504606847000', '1152921504606846976', 0],
      ['1152921504606846976', '1152921504606847000', 0],
      ['9007199254740993', '9007199254740993', 1],
      ['9007199254740993', '9007199254740992', 0],
      ['9007199254740993', '9007199254740994', 0],
    ] as const) {
      const rvalue = numberFrom(digits)
      const parts = { entity: 'big', query: { field: 'n', op: '=', rvalue }, update: { $set: { n: rvalue } } }
      for (const { name, send } of ENTRY_POINTS.filter(({ carries }) => carries.includes('query'))) {
        const saved = await office().ask('POST', '/data/save/big', {
          body: `{"data":{"_id":"1","n":${stored}},"upsert":true}`,
        })
        assert.equal(saved.json.status, 'COMPLETE', saved.text)
        const outcome = await send(office(), parts, [])
        if (outcome)
          assert.equal(
            outcome.response['matchCount'],
            matches,
            `${name} ${stored} = ${digits}: ${outcome.text}`,
          )
      }
    }
    assert.match((await office().ask('GET', '/data/find/big')).text, /"n":9007199254740993\b/)
  })
})
