/**
 * Finds the route of a request target. The path is matched before the method. Therefore a literal segment precedes a name
 * for every method, and the response to a wrong method can list the allowed ones.
 */
import createTree from 'find-my-way'
import { ServiceError } from '../../base/errors.ts'
import { METHODS, type Method, type Params, type Route } from './route.ts'

/** All routes of one path; `T` is the server's state per route. */
interface Resource<T> {
  readonly template: string
  readonly allow: string
  readonly byMethod: Readonly<Partial<Record<string, T>>>
}

interface Match<T> {
  readonly resource: Resource<T>
  readonly params: Params
}

interface RequestTarget {
  /** Without `/rest`, still percent-encoded. */
  readonly path: string
  readonly search: string
}

export type Router<T> = (path: string) => Match<T> | undefined

export function createRouter<T>(routes: readonly Route[], bind: (route: Route) => T): Router<T> {
  const tree = createTree({ ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER })
  for (const [template, rows] of Map.groupBy(routes, (route) => route.path)) {
    const byMethod: Partial<Record<string, T>> = Object.create(null) as Record<string, T>
    for (const row of rows) byMethod[row.method] = bind(row)
    // node:http omits the body in responses to HEAD, so the handler of GET serves both
    if (byMethod.GET !== undefined) byMethod.HEAD = byMethod.GET
    const resource: Resource<T> = { template, allow: allowed(rows), byMethod }
    tree.on('GET', template.replaceAll(/\{(\w+)\}/g, ':$1'), noHandler, resource)
  }
  tree.compile()
  return (path) => {
    const found = path.includes('//') ? null : tree.find('GET', path)
    return found === null ? undefined : { resource: found.store as Resource<T>, params: found.params }
  }
}

/** The one spelling of all paths that have this route and these parameters: an encoded slash stays encoded. */
export function canonicalPath(template: string, params: Params): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

/** Splits the target of the request line. The path is not checked yet. */
export function readTarget(url: string): RequestTarget {
  const relative = url.startsWith('/') ? url : withoutOrigin(url)
  const question = relative.indexOf('?')
  const path = question === -1 ? relative : relative.slice(0, question)
  const search = question === -1 ? '' : relative.slice(question + 1)
  return { path: withoutPrefix(path), search }
}

/** Rejects paths with unencoded or invalid characters. */
export function checkPath(path: string): void {
  if (path.includes('%')) refuseBadEncoding(path)
  if (!PLAIN.test(path)) throw badPath('holds characters that must be percent-encoded')
}

const MAX_PARAMETER = 1_024
/** Without "#", where the router would end the path: the request would be about another document. */
const PLAIN = /^[\x21\x22\x24-\x7e]*$/

function allowed(rows: readonly Route[]): string {
  const methods = METHODS.filter((method) => rows.some((row) => row.method === method))
  return methods.flatMap((method: Method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
}

function withoutPrefix(path: string): string {
  if (path.startsWith('/rest/')) return path.slice(5)
  return path === '/rest' ? '/' : path
}

/** Strips the origin of the absolute form, which proxies send. The host is checked in the `Host` header instead. */
function withoutOrigin(url: string): string {
  const match = /^https?:\/\/[^/?]+(.*)$/i.exec(url)
  if (!match) throw badPath('is no path; send one such as /data/find/country')
  return match[1]!.startsWith('/') ? match[1]! : `/${match[1]!}`
}

function refuseBadEncoding(path: string): void {
  let decoded
  try {
    decoded = decodeURIComponent(path)
  } catch {
    throw badPath('holds percent signs that encode no UTF-8 text')
  }
  if (decoded.includes('\0')) throw badPath('holds a NUL character')
}

function badPath(problem: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', `the path of the request ${problem}`)
}

/** find-my-way requires a handler, but the router reads the resource from the `store` of the match. */
function noHandler(): void {}
