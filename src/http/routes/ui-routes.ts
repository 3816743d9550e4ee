/** Routes of the page: the built files, for anybody. The page itself has no rights; its requests carry those of its user. */
import { ServiceError } from '../../base/errors.ts'
import { Type } from '../../base/json/shape.ts'
import { accepts } from './accept.ts'
import { type App, type Call, type Reply, type Route, type UiFile, jsonReply } from './route.ts'

/** Scripts and styles of the service itself only, nothing inline, no frames; styles of scripts go through the CSSOM. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]

/** The page sends requests to the service, and to the issuer of tokens where users sign in there. */
function policyFor({ oidc }: App): string {
  const issuer = oidc === undefined ? '' : ` ${new URL(oidc.issuer).origin}`
  return [...POLICY, `connect-src 'self'${issuer}`].join('; ')
}

/** Names of assets contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const REVALIDATE = 'no-cache'

const shared = {
  method: 'GET',
  tag: 'service',
  access: 'public',
  headers: [
    { name: 'If-None-Match', description: '`ETag` of the file that the browser has.' },
    { name: 'Accept-Encoding', description: '`gzip` for smaller files.' },
  ],
  otherStatuses: { 304: 'The browser has the file.' },
  errors: ['crud:UnknownRoute'],
} as const

const SETTINGS = Type.Object({
  oidc: Type.Optional(
    Type.Object({
      issuer: Type.String({ description: 'Where users sign in (OpenID Connect).' }),
      clientId: Type.String({ description: 'Name of the page at the issuer.' }),
      scope: Type.String({ description: 'Scopes by spaces.' }),
    }),
  ),
})

const EXAMPLE = { issuer: 'https://id.example.com', clientId: 'smalt-page', scope: 'openid' }

export const UI_ROUTES: readonly Route[] = [
  {
    ...shared,
    path: '/ui',
    operationId: 'ui',
    summary: 'The page: data, schemas, access and events in a browser',
    description: 'Absent where the setting `ui.enabled` is false.',
    // an issuer sends its users back with a code, and parameters of its own
    takesOtherParameters: true,
    reply: { shape: Type.String(), type: 'text/html; charset=utf-8' },
    handle: (call) => send(call, 'index.html', REVALIDATE),
  },
  {
    method: 'GET',
    tag: 'service',
    access: 'public',
    path: '/ui/settings',
    operationId: 'uiSettings',
    summary: 'How users of the page sign in',
    description: '`oidc` is absent where the setting `ui.oidc` is.',
    reply: { shape: SETTINGS, example: { oidc: EXAMPLE } },
    handle: ({ app: { oidc } }) => jsonReply(oidc ? { oidc: { ...oidc } } : {}),
  },
  {
    ...shared,
    path: '/ui/assets/{file}',
    operationId: 'uiAsset',
    summary: 'A script, style or picture of the page',
    reply: { shape: Type.String(), type: 'text/javascript' },
    handle: (call) => send(call, `assets/${call.params['file'] ?? ''}`, IMMUTABLE),
  },
  ...['', '/{page}', '/{section}/{page}'].map((rest, i): Route => {
    return {
      ...shared,
      path: `/docs/guide${rest}`,
      operationId: ['guide', 'guidePage', 'guideSectionPage'][i]!,
      summary: 'The documentation as pages to read',
      // the tutorial is in no section
      ...(i === 2 && { pathExamples: { page: 'use-the-page' } }),
      reply: { shape: Type.String(), type: 'text/html; charset=utf-8' },
      handle: sendGuide,
    }
  }),
]

function sendGuide(call: Call): Reply {
  return send(call, guideName(call.params), REVALIDATE, 'there is no such page; /docs/guide lists them')
}

function guideName({ section, page = 'index' }: Call['params']): string {
  return `guide/${section === undefined ? page : `${section}/${page}`}.html`
}

/** Names of assets change with each build, so a page that asks for an unknown one is outdated. */
const NO_FILE = 'the page has no such file; load it again'

function send(call: Call, name: string, cacheControl: string, otherwise = NO_FILE): Reply {
  const files = call.app.ui()
  if (!files) throw new ServiceError('crud:UnknownRoute', 'the page was not built; run npm run build:ui')
  const file = files.get(name)
  if (!file) throw new ServiceError('crud:UnknownRoute', otherwise)
  return fileReply(call, file, cacheControl)
}

function fileReply({ app, headers }: Call, file: UiFile, cacheControl: string): Reply {
  const { bytes, gzip, etag, type } = file
  const common = { type, cacheControl, contentSecurityPolicy: policyFor(app) }
  const named = ['ETag', etag, 'Vary', 'Accept-Encoding']
  const known = headers['if-none-match']?.split(',').map((each) => each.trim().replace(/^W\//, ''))
  if (known?.includes(etag)) return { ...common, status: 304, text: '', headers: named }
  if (!gzip || !accepts(headers['accept-encoding'] ?? '', 'gzip'))
    return { ...common, status: 200, text: bytes, headers: named }
  return { ...common, status: 200, text: gzip, headers: [...named, 'Content-Encoding', 'gzip'] }
}
