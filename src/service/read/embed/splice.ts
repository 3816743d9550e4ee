/** Documents of references put into the text of the document that holds them, where neither has to be looked into. */
import type { PlannedJoin } from '../../../plan/joins.ts'
import { type JoinedDocuments, type StoredDocument, TOO_LARGE } from '../../../plan/plan.ts'
import type { JsonText } from '../../response.ts'
import { tooLarge } from '../../memory-limits.ts'

/** Undefined for a document with which others came that are not fully known. */
type Splice = (text: JsonText, document: StoredDocument) => JsonText | undefined

/** Undefined when something of the documents has to be hidden, cut or filled in. */
export function compileSplice(joins: readonly PlannedJoin[]): Splice | undefined {
  if (!joins.every(({ plan }) => plan.isShownWhole)) return undefined
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

/** Whether the schema knows all about the documents; see `StoredDocument`. */
function knowing(known = Infinity): (documents: JoinedDocuments) => boolean {
  return ({ facts }) => facts === 'null' || Number(facts) <= known
}
