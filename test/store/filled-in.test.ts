/** Statements of a template are filled in where nothing but their values depends on the texts, and nowhere else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import type { ReadPlan } from '../../src/plan/plan.ts'
import { planFind } from '../../src/plan/read.ts'
import { BLANKS, fillBlanks } from '../../src/plan/template.ts'
import { allowedFind } from '../../src/service/read/find.ts'
import { readFind } from '../../src/service/request/request.ts'
import { filledIn } from '../../src/store/sql/prepared-statement.ts'
import { compiledSchema } from '../support/schema.ts'
import { ADMIN, EVERYTHING } from '../support/service.ts'

const [BLANK] = BLANKS as readonly [string]

function template(): ReadPlan {
  const schema = compiledSchema('thing', { code: { type: 'string' } })
  const body = { query: { field: 'code', op: '=', rvalue: BLANK }, projection: EVERYTHING }
  const request = readFind(body, { entity: 'thing' }, DEFAULT_LIMITS)
  const allowed = allowedFind({ schemaOf: () => schema, limits: DEFAULT_LIMITS }, ADMIN, request)
  return planFind(allowed, () => true).read
}

function textOf({ query }: ReadPlan): string {
  return query?.kind === 'compare' ? (query.value as string) : ''
}

/** What a store writes for a text, and how often it has to write for two of them: twice for the template itself. */
type Case = readonly [
  rule: string,
  text: (of: string) => string,
  value: (of: string) => string,
  written: number,
]

const CASES: readonly Case[] = [
  ['a text that is a value is filled in', () => 'a = ?', (of) => of, 2],
  ['a text that is part of a value is not', () => 'a = ?', (of) => `["${of}"]`, 4],
  ['a text that is cut off is not', () => 'a = ?', (of) => of.slice(0, 1), 4],
  ['a text in another case is not', () => 'a = ?', (of) => of.toLowerCase(), 4],
  ['a text whose length decides is not', (of) => (of.length < 20 ? 'a = ?' : 'b = ?'), (of) => of, 4],
]

for (const [rule, text, value, written] of CASES) {
  test(`filled in: ${rule}`, () => {
    let count = 0
    const write = (plan: ReadPlan) => {
      count++
      const page = { text: text(textOf(plan)), values: [value(textOf(plan)), 'same'] }
      return { page, count: () => page }
    }
    const [statementsOf, plan, table] = [filledIn(write), template(), {}]
    for (const each of ['First', 'Second']) {
      const { page, count: counting } = statementsOf(fillBlanks(plan, new Map([[BLANK, each]])), table)
      assert.deepEqual(page, { text: text(each), values: [value(each), 'same'] })
      assert.deepEqual(counting(), page)
    }
    assert.equal(count, written)
  })
}
