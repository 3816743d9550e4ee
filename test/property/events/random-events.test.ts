/** Random edits of random documents: when there is an event, what it contains, and what it hides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewOf } from '../../../src/access/view.ts'
import {
  type Json,
  type JsonObject,
  cloneJson,
  isArray,
  isNumber,
  isObject,
  numberText,
  sameJson,
} from '../../../src/base/json/json.ts'
import type { States } from '../../../src/events/detect-changes.ts'
import type { Event, EventHook } from '../../../src/events/event.ts'
import { visibleEvent } from '../../../src/events/visible-event.ts'
import { type Chance, sample } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { callerWith } from '../../support/service.ts'
import {
  POSITIONAL,
  WATCHES,
  editDocument,
  makeDocument,
  rearranged,
  schema,
  withOtherSecrets,
} from './random-documents.ts'
import { DATE, eventOf, hookOf, operationOf, valueAt } from '../../unit/events/watching.ts'

const ROUNDS = 1_500

function check(name: string, round: (chance: Chance) => void): void {
  test(`${name} (seed ${SEED})`, () => {
    for (let i = 0; i < ROUNDS; i++) {
      const seed = SEED + i
      try {
        sample(seed, round)
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error })
      }
    }
  })
}

/** Hooks are cached, as in metadata, because compiled event makers are cached by hook. */
const hookFor = new Map<string, EventHook>()

function hookWatching(watchProjection: Json | undefined, more: JsonObject = {}): EventHook {
  const configuration = { ...(watchProjection !== undefined && { watchProjection }), ...more }
  const key = JSON.stringify(configuration)
  const hook = hookFor.get(key) ?? hookOf(configuration)
  hookFor.set(key, hook)
  return hook
}

function makeHook(chance: Chance, watches: readonly (Json | undefined)[]): EventHook {
  const include = [
    { field: 'name' },
    { field: 'notes', match: { field: 'hiddenMark', op: '=', rvalue: 'a' } },
  ]
  return hookWatching(chance.pick(watches), {
    arrayOrderingSignificant: chance.happens(40),
    kind: chance.pick(['notification', 'audit']),
    includeProjection: include,
  })
}

function makeStates(chance: Chance): States {
  const before = makeDocument(chance)
  if (chance.happens(10)) return { after: before }
  if (chance.happens(10)) return { before }
  return { before, after: editDocument(chance, before) }
}

check('event: equal documents make no event', (chance) => {
  const before = makeDocument(chance)
  const hook = makeHook(chance, [...WATCHES, ...POSITIONAL])
  assert.equal(eventOf(schema, hook, { before, after: cloneJson(before) as JsonObject }), undefined)
})

check('event: another order and other digits make no event', (chance) => {
  const before = makeDocument(chance)
  const after = rearranged(chance, before) as JsonObject
  assert.equal(eventOf(schema, hookWatching(chance.pick(WATCHES)), { before, after }), undefined)
})

check('event: if everything is watched, there is an event exactly when the content differs', (chance) => {
  const states = makeStates(chance)
  const isOrdered = chance.happens(50)
  const hook = hookWatching(undefined, { arrayOrderingSignificant: isOrdered })
  const isDifferent = contentOf(states.before, isOrdered) !== contentOf(states.after, isOrdered)
  assert.equal(eventOf(schema, hook, states) !== undefined, isDifferent)
})

check('event: every changed path leads to a different value', (chance) => {
  const states = makeStates(chance)
  const hook = hookWatching(chance.pick([...WATCHES, ...POSITIONAL]))
  const event = eventOf(schema, hook, states)
  if (!event || !('include' in event)) return
  assert.ok(event.changed.length + event.removed.length > 0)
  for (const path of event.changed) {
    const value = valueAt(event.after, path)
    assert.notEqual(value, undefined, path)
    const hasIndex = /\.\d/.test(path)
    if (!hasIndex) assert.ok(!sameJson(value, valueAt(event.before, path)), path)
  }
  for (const path of event.removed) assert.notEqual(valueAt(event.before, path), undefined, path)
  assert.equal(new Set(event.changed).size, event.changed.length)
})

check('audit: applying the changes to one state gives the other', (chance) => {
  const { before, after } = makeStates(chance)
  if (!before || !after) return
  const event = eventOf(schema, hookWatching(undefined, { kind: 'audit' }), { before, after })
  assert.ok(event === undefined || 'changes' in event)
  const [oldCounts, newCounts] = [leafCounts(before), leafCounts(after)]
  for (const { path, ...entry } of event?.changes ?? []) {
    if ('from' in entry) removeLeaves(oldCounts, path, entry['from'])
    if ('to' in entry) removeLeaves(newCounts, path, entry['to'])
  }
  assert.deepEqual(oldCounts, newCounts)
})

const clerk = viewOf(schema)(callerWith('clerk'))

/** The event that a reader receives: changes that make no event for anybody are not stored. */
function receivedEvent(states: States, hook: EventHook): Event | undefined {
  if (!eventOf(schema, hook, states)) return undefined
  const change = { id: 'e1', operation: operationOf(states), principal: 'alice', date: DATE, ...states }
  return visibleEvent(change, { hook, view: clerk })
}

check('visible event: hidden values change neither its bytes nor whether there is one', (chance) => {
  const states = makeStates(chance)
  const hook = makeHook(chance, [...WATCHES, ...POSITIONAL])
  const others = Object.fromEntries(
    Object.entries(states).map(([name, state]) => [name, withOtherSecrets(chance, state as JsonObject)]),
  )
  const [one, other] = [states, others].map((each) => JSON.stringify(receivedEvent(each, hook)))
  assert.equal(one, other)
  assert.ok(!(one ?? '').includes('hidden'))
})

/** The content as text, independent of the code under test: sorted, without empty values. */
function contentOf(value: Json | undefined, isOrdered: boolean): string {
  if (value === undefined) return ''
  if (isNumber(value)) return String(Number(numberText(value)))
  if (isArray(value)) {
    const parts = value.map((each) => contentOf(each, isOrdered)).filter((each) => each !== '')
    return parts.length === 0 ? '' : `[${(isOrdered ? parts : parts.sort()).join(' ')}]`
  }
  if (!isObject(value)) return JSON.stringify(value)
  const parts = Object.entries(value)
    .map(([name, each]) => [name, contentOf(each, isOrdered)] as const)
    .filter(([, each]) => each !== '')
    .map(([name, each]) => `${name}=${each}`)
  return parts.length === 0 ? '' : `(${parts.sort().join(' ')})`
}

/** Counts values by path without indexes. */
function leafCounts(document: JsonObject): Record<string, number> {
  const counts: Record<string, number> = {}
  const walk = (value: Json, path: string): void => {
    if (isArray(value)) value.forEach((each, i) => walk(each, `${path}.${i}`))
    else if (isObject(value)) for (const [name, each] of Object.entries(value)) walk(each, `${path}.${name}`)
    else {
      const key = leafName(path.slice(1), value)
      counts[key] = (counts[key] ?? 0) + 1
    }
  }
  walk(document, '')
  return counts
}

function leafName(path: string, value: Json): string {
  const number = isNumber(value) ? String(Number(numberText(value))) : JSON.stringify(value)
  return `${path.replaceAll(/\.\d+/g, '.*')}=${number}`
}

function removeLeaves(counts: Record<string, number>, path: string, value: Json): void {
  for (const [at, leaf] of leavesOf(value, path)) {
    const key = leafName(at, leaf)
    assert.ok((counts[key] ?? 0) > 0, `${key} was not there`)
    if (counts[key] === 1) delete counts[key]
    else counts[key]!--
  }
}

function leavesOf(value: Json, path: string): readonly (readonly [string, Json])[] {
  if (isArray(value)) return value.flatMap((each, i) => leavesOf(each, `${path}.${i}`))
  if (!isObject(value)) return [[path, value]]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, `${path}.${name}`))
}
