/** Walks over the pages of a find by cursor. */
import assert from 'node:assert/strict'
import type { Caller } from '../../../src/access/caller.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type DataResponse, printResponse } from '../../../src/service/response.ts'
import type { Service } from '../../../src/service/service.ts'
import { ADMIN } from '../../support/service.ts'

export interface Walked {
  readonly service: Service
  readonly entity: string
  /** The find without a page. */
  readonly body: JsonObject
  readonly size: number
  readonly caller?: Caller
  /** Called between two pages. */
  readonly between?: () => Promise<void>
}

/** More than any walk of the tests has. */
const MAX_PAGES = 2_000

/** The documents of all pages as text, in order. Every page but the last one is full. */
export async function walk(walked: Walked): Promise<readonly string[]> {
  const { service, entity, body, size, caller = ADMIN, between } = walked
  const found: string[] = []
  let after: string | undefined
  let pages = 0
  do {
    assert.ok(pages++ < MAX_PAGES, `the walk does not end: ${JSON.stringify({ entity, size, body })}`)
    const page = { size, ...(after !== undefined && { after }) }
    const response: DataResponse = await service.data.find(caller, { entity }, { ...body, page })
    assert.equal(response.status, 'COMPLETE', printResponse(response))
    const { processed = [], next } = response
    if (next !== undefined) assert.equal(processed.length, size, 'a page before another one is full')
    found.push(...processed)
    after = next
    await between?.()
  } while (after !== undefined)
  return found
}
