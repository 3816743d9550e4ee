/** Which headers `Accept` name a media type. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accepts } from '../../../src/http/routes/accept.ts'

const TYPE = 'application/x-ndjson'

for (const accept of [
  TYPE,
  'Application/X-NDJSON',
  `application/json, ${TYPE}`,
  `${TYPE};q=0.5, */*;q=0.1`,
  `${TYPE} ; charset=utf-8 ; Q=0.001`,
  `${TYPE};q=0,${TYPE}`,
]) {
  test(`accept: "${accept}" names it`, () => assert.equal(accepts(accept, TYPE), true))
}

for (const accept of [
  '',
  '*/*',
  'application/*',
  'application/json',
  `${TYPE};q=0`,
  `${TYPE} ; charset=utf-8; Q=0.000`,
  `${TYPE}-seq`,
  `application/json;profile=${TYPE}`,
]) {
  test(`accept: "${accept}" does not name it`, () => assert.equal(accepts(accept, TYPE), false))
}
