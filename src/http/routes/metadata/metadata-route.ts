/** What all routes of `/metadata` share. */
import type { Code } from '../../../base/errors.ts'
import type { Params, Route } from '../route.ts'
import { METADATA } from './metadata-contents.ts'

export const UNKNOWN: readonly Code[] = ['metadata:MissingEntityInfo', 'metadata:MissingSchema']

export function metadataRoute(method: Route['method'], path: string, operationId: string, summary: string) {
  const access = method === 'GET' ? 'metadata.find' : 'metadata.update'
  return {
    method,
    path: `/metadata${path}`,
    operationId,
    summary,
    tag: 'metadata',
    access,
    reply: METADATA,
  } as const
}

export function entityOf({ entity = '' }: Params): string {
  return entity
}
