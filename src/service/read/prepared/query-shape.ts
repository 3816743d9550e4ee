/** What is left of a find when the texts are taken out that its query compares with. */
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  numberText,
} from '../../../base/json/json.ts'
import { BLANKS, isPlainText } from '../../../plan/template.ts'

export interface Outline {
  /** The same for all finds that differ only in those texts. */
  readonly key: string
  /** The find with blanks in their place. */
  readonly body: JsonObject
  /** By their blanks. */
  readonly texts: ReadonlyMap<string, string>
}

/** Undefined where there is nothing to take out, or so much else that to compare it would cost more than to read it. */
export function outlineOf(body: Json): Outline | undefined {
  if (!isObject(body) || !isObject(body['query']) || 'asOf' in body) return undefined
  if (weightOf(body, 0) > MAX_WEIGHT) return undefined
  const texts = new Map<string, string>()
  const outline = { ...body, query: withoutTexts(body['query'], texts) }
  return texts.size === 0 ? undefined : { key: JSON.stringify(outline), body: outline, texts }
}

/** Characters of texts, names and numbers, and a few for each of them. */
const MAX_WEIGHT = 2_000

function weightOf(json: Json, before: number): number {
  let weight = before + 8
  if (typeof json === 'string') return weight + json.length
  // Numbers may have any number of digits.
  if (isNumber(json)) return weight + numberText(json).length
  if (isArray(json)) {
    for (const item of json) if (weight <= MAX_WEIGHT) weight = weightOf(item, weight)
  } else if (isObject(json)) {
    for (const name in json) {
      if (weight > MAX_WEIGHT) return weight
      weight = weightOf(json[name]!, weight + name.length)
    }
  }
  return weight
}

/** Only where a text can be something that is compared with; what else is wrong with the query stays in it. */
function withoutTexts(query: Json, texts: Map<string, string>): Json {
  if (!isObject(query)) return query
  const { rvalue } = query
  if (typeof rvalue === 'string') {
    const blank = BLANKS[texts.size]
    if (blank === undefined || !isPlainText(rvalue)) return query
    texts.set(blank, rvalue)
    return { ...query, rvalue: blank }
  }
  return Object.fromEntries(
    Object.entries(query).map(([name, part]) => [name, INNER.has(name) ? withoutTextsIn(part, texts) : part]),
  )
}

function withoutTextsIn(part: Json, texts: Map<string, string>): Json {
  return isArray(part) ? part.map((each) => withoutTexts(each, texts)) : withoutTexts(part, texts)
}

/** Under these names other queries stand. */
const INNER: ReadonlySet<string> = new Set(['$and', '$all', '$or', '$any', '$not', 'elemMatch'])
