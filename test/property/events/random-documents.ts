/** Random documents of one schema with hidden fields at every depth, and edits of them. */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { numberFrom } from '../../../src/base/json/parse-trusted.ts'
import type { Field } from '../../../src/schema/field.ts'
import type { Chance } from '../../support/chance.ts'
import { compiledSchema } from '../../support/schema.ts'

const TEXT = { type: 'string' }
const ACCESS = { access: { find: ['boss'] } }
const SECRET = { ...TEXT, ...ACCESS }

/** Fields whose name begins with `hidden` are for the role boss only. */
export const schema = compiledSchema('thing', {
  name: TEXT,
  price: { type: 'bigdecimal' },
  hidden: SECRET,
  address: { type: 'object', fields: { city: TEXT, hiddenPin: SECRET } },
  tags: { type: 'array', items: TEXT },
  sites: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        siteId: { type: 'integer', constraints: { 'element-identity': true } },
        city: TEXT,
        hiddenMark: SECRET,
        phones: { type: 'array', items: TEXT },
      },
    },
  },
  notes: {
    type: 'array',
    items: {
      type: 'object',
      fields: {
        text: TEXT,
        level: { type: 'integer' },
        hiddenMark: SECRET,
        inner: { type: 'object', fields: { a: TEXT, hiddenB: SECRET } },
      },
    },
  },
  hiddenList: { type: 'array', ...ACCESS, items: { type: 'object', fields: { a: TEXT } } },
  more: { type: 'any' },
})

const [CITY, MARK] = ['city', 'hiddenMark'].map((field) => ({ field, op: '=', rvalue: 'a' }))

/** Positions of elements do not matter in these. */
export const WATCHES: readonly (Json | undefined)[] = [
  undefined,
  [{ field: '*' }],
  [{ field: 'tags' }, { field: 'hidden' }],
  [{ field: 'sites.*.city' }, { field: 'sites.*.hiddenMark' }],
  [{ field: 'notes.*.inner.a' }, { field: 'notes.*.inner.hiddenB' }, { field: 'hiddenList' }],
  [{ field: 'address' }, { field: 'notes.*.hiddenMark' }, { field: 'more.x' }],
  [
    { field: '*', recursive: true },
    { field: 'notes.*.text', include: false },
  ],
  [{ field: 'notes', match: { field: 'text', op: '=', rvalue: 'a' } }],
  [
    { field: '*', recursive: true },
    { field: 'sites', match: CITY! },
  ],
  [
    { field: '*', recursive: true },
    { field: 'notes', match: { $not: MARK! } },
  ],
  [{ field: 'sites', match: MARK!, projection: { field: 'city' } }, { field: 'name' }],
  [
    {
      field: 'sites',
      match: CITY!,
      projection: [{ field: 'phones' }, { field: 'hiddenMark' }],
      sort: { hiddenMark: '$asc' },
    },
  ],
]

/** Positions matter in these. */
export const POSITIONAL: readonly Json[] = [
  [{ field: 'notes', range: [0, 1] }],
  [{ field: 'sites.0' }, { field: 'notes.*.text' }, { field: 'tags.-1' }],
]

export function makeDocument(chance: Chance): JsonObject {
  const ids = [0, 1, 2, 3].filter(() => chance.happens(60))
  return {
    _id: 'x',
    ...some(chance, {
      name: () => text(chance),
      price: () => numberFrom(chance.pick(['1', '1.0', '2.5', '2.50', '25e-1'])),
      hidden: () => text(chance),
      address: () => some(chance, { city: () => text(chance), hiddenPin: () => text(chance) }),
      tags: () => chance.list(4, () => text(chance)),
      sites: () => ids.map((siteId) => ({ siteId, ...makeSite(chance) })),
      notes: () => chance.list(4, () => makeNote(chance)),
      hiddenList: () => makeSecret(chance, schema.root.fields.get('hiddenList')!),
      more: () => chance.pick<Json>([1, numberFrom('1.0'), { x: [1, 2] }, { x: [2, 1], y: {} }, {}, null]),
    }),
  }
}

function makeSite(chance: Chance): JsonObject {
  return some(chance, {
    city: () => text(chance),
    hiddenMark: () => text(chance),
    phones: () => chance.list(3, () => text(chance)),
  })
}

function makeNote(chance: Chance): JsonObject {
  return some(chance, {
    text: () => text(chance),
    level: () => chance.int(3),
    hiddenMark: () => text(chance),
    inner: () => some(chance, { a: () => text(chance), hiddenB: () => text(chance) }),
  })
}

/** Replaces some members, at any depth, by those of another document. */
export function editDocument(chance: Chance, document: JsonObject): JsonObject {
  const other = makeDocument(chance)
  const mixed: Record<string, Json> = {}
  for (const name of new Set([...Object.keys(document), ...Object.keys(other)])) {
    const value = mix(chance, document[name], other[name])
    if (value !== undefined) mixed[name] = value
  }
  return mixed
}

function mix(chance: Chance, old: Json | undefined, other: Json | undefined): Json | undefined {
  if (chance.happens(70)) return old
  if (!isArray(old) || !isArray(other) || chance.happens(30)) return other
  const usedIds = new Set(old.map(siteIdOf))
  const fresh = other.filter((each) => siteIdOf(each) === undefined || !usedIds.has(siteIdOf(each)))
  return shuffle(chance, [...old.filter(() => chance.happens(80)), ...fresh.slice(0, 1)])
}

function siteIdOf(value: Json): Json | undefined {
  return isObject(value) ? value['siteId'] : undefined
}

/** The same document with other hidden values, or without some of them. */
export function withOtherSecrets(chance: Chance, document: JsonObject): JsonObject {
  const change = (value: Json, field: Field | undefined): Json => {
    if (field?.kind === 'array' && isArray(value)) return value.map((each) => change(each, field.element))
    if (field?.kind !== 'object' || !isObject(value)) return value
    const isHidden = (name: string): boolean => name.startsWith('hidden')
    const visible = Object.entries(value).filter(([name]) => !isHidden(name))
    const secrets = [...field.fields.values()].filter(({ name }) => isHidden(name) && !name.endsWith('#'))
    const makers = secrets.map((each) => [each.name, () => makeSecret(chance, each)] as const)
    return {
      ...some(chance, Object.fromEntries(makers)),
      ...Object.fromEntries(visible.map(([name, each]) => [name, change(each, field.fields.get(name))])),
    }
  }
  return change(document, schema.root) as JsonObject
}

function makeSecret(chance: Chance, { kind }: Field): Json {
  if (kind !== 'array') return text(chance)
  return chance.list(3, () => some(chance, { a: () => text(chance) }))
}

/** The same value with every array in another order, and other digits of the same numbers. */
export function rearranged(chance: Chance, value: Json): Json {
  if (isArray(value)) {
    const inside = value.map((each) => rearranged(chance, each))
    return shuffle(chance, inside)
  }
  if (value === 1) return chance.pick([1, numberFrom('1.0'), numberFrom('10e-1')])
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  const members = Object.entries(value).map(([name, each]) => [name, rearranged(chance, each)] as const)
  return Object.fromEntries(shuffle(chance, members))
}

function shuffle<T>(chance: Chance, list: readonly T[]): readonly T[] {
  const rest = [...list]
  return list.map(() => rest.splice(chance.int(rest.length), 1)[0]!)
}

function some(chance: Chance, makers: Readonly<Record<string, () => Json>>): JsonObject {
  const chosen = Object.entries(makers).filter(() => chance.happens(65))
  return Object.fromEntries(chosen.map(([name, make]) => [name, make()]))
}

function text(chance: Chance): string {
  return chance.pick(['a', 'b', 'c'])
}
