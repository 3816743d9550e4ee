/** Where in a metadata document an error of the service belongs. */
import { RequestFailure } from '../client/failure.ts'
import { pointerIn } from './json-pointer.ts'

export interface MetadataProblem {
  readonly message: string
  /** A JSON pointer; undefined where the error concerns the document as a whole. */
  readonly pointer: string | undefined
}

/** `sentAt` is where in the document the part was that the service got. */
export function problemOf(failure: unknown, sentAt = ''): MetadataProblem {
  const message = failure instanceof Error ? failure.message : String(failure)
  const pointer = pointerIn(message)
  if (pointer !== undefined) return { message, pointer: `${sentAt}${pointer}` }
  return { message, pointer: failure instanceof RequestFailure ? partOf(failure) : undefined }
}

/** Errors that appear only beside other versions or stored documents name the part, and no place in it. */
function partOf({ code, problems }: RequestFailure): string | undefined {
  // after the operation and its target
  const part = problems[0]?.context.split('/').at(-1)
  if (code === 'metadata:InvalidIndex' || part === 'indexes') return INDEXES_AT
  return code === 'metadata:InvalidHook' || part === 'hooks' ? HOOKS_AT : undefined
}

export const INFO_AT = '/entityInfo'
export const INDEXES_AT = '/entityInfo/indexes'
export const HOOKS_AT = '/entityInfo/hooks'

/** The message if the error is at this place or inside it. */
export function messageInside(problem: MetadataProblem | undefined, at: string): string | undefined {
  const isInside = problem?.pointer === at || problem?.pointer?.startsWith(`${at}/`)
  return isInside === true ? problem?.message : undefined
}

/** The message if the error is at this place itself. */
export function messageAt(problem: MetadataProblem | undefined, at: string): string | undefined {
  return problem?.pointer === at ? problem.message : undefined
}
