/** A service that answers what it was asked, so that tests see what HTTP made of a request. */
import { ticketService } from '../../../src/service/tickets.ts'
import type { Caller } from '../../../src/access/caller.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { type DataResponse, failed } from '../../../src/service/response.ts'
import type {
  DataService,
  DocumentService,
  EventService,
  MetadataService,
  OnceService,
  Service,
  Target,
} from '../../../src/service/service.ts'
import type { SinkService } from '../../../src/service/sink-service.ts'

export interface FakeService extends Service {
  /** What `ready` fails with. */
  problem: Error | undefined
  readyCalls: number
  /** What every data operation waits for first. */
  gate: Promise<void>
  /** Data operations that were begun. */
  begun: number
}

export function fakeService(): FakeService {
  const fake: FakeService = {
    data: fakeData(() => {
      fake.begun++
      return fake.gate
    }),
    documents: fakeDocuments(),
    tickets: ticketService({ secret: () => 'a secret', now: () => new Date() }),
    metadata: fakeMetadata(),
    events: fakeEvents(),
    sinks: fakeSinks(),
    once: NO_KEYS,
    rehearseMetadata: () => noKeys(),
    backups: { make: async () => ({ backups: [] }) },
    slow: { list: () => ({ overMs: 200, kept: 100, requests: [] }), note: () => undefined },
    store: { kind: 'fake', description: 'nothing is kept', location: 'nowhere' },
    problem: undefined,
    readyCalls: 0,
    gate: Promise.resolve(),
    begun: 0,
    async ready() {
      fake.readyCalls++
      if (fake.problem) throw fake.problem
    },
    epoch: () => 0,
    refresh: async () => undefined,
    lendWriter: () => Promise.reject(new Error('nothing is kept')),
    async [Symbol.asyncDispose]() {},
  }
  return fake
}

function fakeDocuments(): DocumentService {
  const nothing = async () => ({ status: 200, text: '{}', headers: [] })
  return { list: nothing, get: nothing, create: nothing, replace: nothing, patch: nothing, remove: nothing }
}

function fakeData(gate: () => Promise<void>): DataService {
  const captureChange = async (
    operation: string,
    caller: Caller,
    target: Target,
    sent: { [key: string]: Json | undefined },
  ) => {
    await gate()
    if (target.entity === 'broken') throw new TypeError('secret detail of a stored document')
    if (target.entity === 'denied')
      return failed(new ServiceError('crud:NoAccess', 'find denied', { context: 'find(denied)' }))
    if (target.entity === 'away') return failed(new ServiceError('crud:Unavailable', 'the store is away'))
    const { getSignal: _hangUp, work: _work, chargedTo: _chargedTo, offload: _offload, ...rest } = target
    const { idempotency: _idempotency, ...named } = rest
    return echo({ operation, ...named, roles: [...caller.roles], principal: caller.principal, ...sent })
  }
  return {
    find: (caller, target, body) => captureChange('find', caller, target, { body }),
    line: async () => '',
    precheck: () => undefined,
    async stream(_caller, _target, body) {
      if (body === undefined) return failed(new ServiceError('store-crud:NullProjection', 'say what'))
      return (async function* () {
        yield '{"entity":"x","status":"COMPLETE"}'
        yield '{"last":true,"status":"COMPLETE","matchCount":0}'
      })()
    },
    aggregate: (caller, target, body) => captureChange('aggregate', caller, target, { body }),
    explain: (caller, target, body) => captureChange('explain', caller, target, { body }),
    insert: (caller, target, body) => captureChange('insert', caller, target, { body }),
    save: (caller, target, body) => captureChange('save', caller, target, { body }),
    update: (caller, target, body) => captureChange('update', caller, target, { body }),
    delete: (caller, target, body) => captureChange('delete', caller, target, { body }),
    history: (caller, target, parameters) =>
      captureChange('history', caller, target, { parameters: String(parameters) }),
    simpleFind: (caller, target, parameters) =>
      captureChange('simpleFind', caller, target, Object.fromEntries(parameters)),
    simpleExplain: (caller, target, parameters) =>
      captureChange('simpleExplain', caller, target, Object.fromEntries(parameters)),
    generate: (caller, target, field, n) => captureChange('generate', caller, target, { field, n }),
    search: (caller, target, body, overrides) =>
      captureChange('search', caller, target, { body, overrides: Object.fromEntries(overrides) }),
    simpleSearch: (caller, target, parameters) =>
      captureChange('simpleSearch', caller, target, Object.fromEntries(parameters)),
    searches: (caller, target, parameters) =>
      captureChange('searches', caller, target, Object.fromEntries(parameters)),
    async lock() {
      await gate()
      return true
    },
    bulk: async (_caller, body) => bulkText(body),
    bulkInParts: async (_caller, body) => [bulkText(body)],
  }
}

function bulkText(body: Json | undefined): string {
  if (body === undefined) throw new ServiceError('crud:InvalidRequest', 'a bulk needs requests')
  return JSON.stringify({ responses: [], body })
}

function echo(asked: { [key: string]: Json | undefined }): DataResponse {
  return { status: 'COMPLETE', modifiedCount: 0, matchCount: 0, processed: [JSON.stringify(asked)] }
}

function fakeMetadata(): MetadataService {
  const captureChange = (operation: string, ...args: readonly unknown[]): Json => {
    if (args[0] === 'broken') throw new TypeError('secret detail of a stored document')
    if (args[0] === 'missing')
      throw new ServiceError('metadata:MissingEntityInfo', 'missing', { context: 'x' })
    return { operation, args: JSON.parse(JSON.stringify(args)) as Json }
  }
  return {
    names: (_, statuses) => captureChange('names', statuses),
    versions: (_, entity) => captureChange('versions', entity),
    get: (_, entity, version) => captureChange('get', entity, version),
    diff: (_, entity, versions) => captureChange('diff', entity, versions),
    roles: (_, entity, version) => captureChange('roles', entity, version),
    dependencies: (_, entity, version) => captureChange('dependencies', entity, version),
    explainAccess: (_, body) => captureChange('explainAccess', body),
    access: (_, entity, version) => captureChange('access', entity, version),
    lint: (_, entity) => captureChange('lint', entity),
    history: async (_, entity) => captureChange('history', entity),
    create: async (_, target, body) => captureChange('create', target, body),
    createAll: async (_, body) => captureChange('createAll', body),
    createSchema: async (_, target, body) => captureChange('createSchema', target, body),
    updateInfo: async (_, entity, body) => captureChange('updateInfo', entity, body),
    setStatus: async (_, target, change) => captureChange('setStatus', target, change),
    setDefault: async (_, target) => captureChange('setDefault', target),
    clearDefault: async (_, entity) => captureChange('clearDefault', entity),
    remove: async (_, entity) => captureChange('remove', entity),
  }
}

function fakeEvents(): EventService {
  return {
    render: (event) => Promise.resolve({ text: JSON.stringify(event), epoch: 0 }),
    renderLargeBy: () => undefined,
    async read(_caller, parameters) {
      return { events: [JSON.stringify(Object.fromEntries(parameters))], next: 1 }
    },
    async follow(_caller, { parameters }) {
      return (async function* () {
        yield { events: [{ seq: 1, text: JSON.stringify(Object.fromEntries(parameters)) }], position: 1 }
      })()
    },
  }
}

function fakeSinks(): SinkService {
  const captureChange = async (operation: string, ...args: readonly (Json | undefined)[]): Promise<Json> => ({
    operation,
    args: JSON.parse(JSON.stringify(args)) as Json,
  })
  return {
    create: (_, body) => captureChange('create', body),
    list: () => captureChange('list'),
    get: (_, name) => captureChange('get', name),
    replace: (_, name, body) => captureChange('replace', name, body),
    remove: (_, name) => captureChange('remove', name),
    dead: (_, name, { parameters }) => captureChange('dead', name, Object.fromEntries(parameters)),
    inspect: (_, name, { eventId }) => captureChange('inspect', name, eventId),
    redrive: (_, name, eventId) => captureChange('redrive', name, eventId),
    discard: (_, name, eventId) => captureChange('discard', name, eventId),
    once: noKeys,
    render: (event) => JSON.stringify(event),
    renderLargeBy: () => undefined,
  }
}

function noKeys(): Promise<never> {
  return Promise.reject(new Error('the fake keeps no keys'))
}

const NO_KEYS: OnceService = {
  decidingClaims: () => ({}),
  data: noKeys,
  bulk: noKeys,
  lock: noKeys,
  document: noKeys,
  metadata: noKeys,
}
