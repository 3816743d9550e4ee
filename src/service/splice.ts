/** Documents of references put into the text of the document that holds them, where neither has to be looked into. */
import { mayPassThrough } from '../plan/read.ts'
import type { PlannedJoin } from '../plan/joins.ts'
import { type JoinedDocuments, type StoredDocument, TOO_LARGE } from '../plan/plan.ts'
import { tooLarge } from './joined-tree.ts'
import type { JsonText } from './response.ts'

/** Undefined for a document with which others came that are not fully known. */
type Splice = (text: JsonText, document: StoredDocument) => JsonText | undefined

/** Undefined when something of the documents has to be hidden, cut or filled in. */
export function compileSplice(joins: readonly PlannedJoin[]): Splice | undefined {
  if (!joins.every(isShownWhole)) return undefined
  const names = joins.map(({ plan }) => JSON.stringify(plan.steps[0]))
  const areKnown = joins.map(({ plan }) => knowing(plan.collection.paths))
  return (text, { joined = [] }) => {
    let members = ''
    for (const [i, documents] of joined.entries()) {
      if (documents.documents === null) continue
      if (documents.documents === TOO_LARGE_TEXT) throw tooLarge(joins[i]!)
      if (!areKnown[i]!(documents)) return undefined
      members += `,${names[i]}:${documents.documents}`
    }
    if (members === '') return text
    return `${text.slice(0, -1)}${text === '{}' ? members.slice(1) : members}}`
  }
}

const TOO_LARGE_TEXT = JSON.stringify(TOO_LARGE)

function isShownWhole({ isAlong, allowed, plan, joins }: PlannedJoin): boolean {
  const { schema, sight, shownAs, projection } = allowed
  const isPlain = isAlong && plan.steps.length === 1 && joins.length === 0
  return isPlain && !sight.hidesSome && !shownAs && !projection && mayPassThrough(schema)
}

/** Whether the schema knows all about the documents; see `StoredDocument`. */
function knowing(known = Infinity): (documents: JoinedDocuments) => boolean {
  return ({ facts }) => {
    const read = JSON.parse(facts ?? '[]') as readonly (readonly [version: number, paths: number | null])[]
    return read.every(([, paths]) => (paths ?? 0) <= known)
  }
}
