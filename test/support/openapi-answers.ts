/** Checks answers against the OpenAPI document: each status is documented for its route, and each body has its shape. */
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openapiDocument } from '../../src/http/routes/openapi.ts'
import { checkPath, createRouter, readTarget } from '../../src/http/routes/router.ts'
import { ROUTES } from '../../src/http/routes/routes.ts'
import type { Answer } from './server.ts'

interface Described {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}

interface Content {
  readonly schema: object
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

const DOCUMENT = openapiDocument(ROUTES)
const router = createRouter(ROUTES, (route) => route)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(DOCUMENT, 'openapi')
/** By the text of the schema: hundreds of answers have the shape of a few, and to compile takes milliseconds. */
const checks = new Map<string, ValidateFunction>()
const compiledOf = new WeakMap<object, ValidateFunction>()

/** Requests that no route serves, and answers without a body, are not described. */
export function assertDocumented(method: string, url: string, { status, headers, text }: Answer): void {
  const route = routeOf(method, url)
  if (!route) return
  if (status === 431 || BEFORE_ROUTES.some((code) => text.includes(`"errorCode":"${code}"`))) return
  const where = `${method} ${route.path} ${status}`
  const described = (DOCUMENT['paths'] as unknown as Paths)[route.path]![route.method.toLowerCase()]!
  const response = described.responses[status]
  assert.ok(response, `the OpenAPI document does not know the status of ${where}: ${text.slice(0, 300)}`)
  const type = (headers['content-type'] ?? '').split(';')[0]!
  if (method === 'HEAD' || text === '' || type !== 'application/json') return
  const content = response.content?.[type]
  assert.ok(content, `the OpenAPI document does not know ${type} of ${where}`)
  const check = checkOf(content, [route.path, route.method.toLowerCase(), String(status)])
  if (check(JSON.parse(text))) return
  const problem = ajv.errorsText(check.errors, { dataVar: 'the answer' })
  assert.fail(`${where} is not as the OpenAPI document says: ${problem}\n${text.slice(0, 500)}`)
}

/** What is refused before a route is chosen, or by none. */
const BEFORE_ROUTES = ['crud:UnknownRoute', 'crud:MethodNotAllowed', 'crud:ForeignOrigin']

function routeOf(method: string, url: string) {
  try {
    const { path } = readTarget(url)
    checkPath(path)
    return path.includes('//') ? undefined : router(path)?.resource.byMethod[method]
  } catch {
    // a path that no route could have
    return undefined
  }
}

function checkOf({ schema }: Content, steps: readonly [string, string, string]): ValidateFunction {
  const compiled = compiledOf.get(schema)
  if (compiled) return compiled
  const shape = JSON.stringify(schema)
  const known = checks.get(shape)
  if (known) {
    compiledOf.set(schema, known)
    return known
  }
  const [path, method, status] = steps
  const pointer = ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema']
  const $ref = `openapi#/${pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
  const check = ajv.compile({ $ref })
  checks.set(shape, check)
  compiledOf.set(schema, check)
  return check
}
