/** What the service sends and takes, as far as clients look into it. */
import type { ServiceProblem } from './failure.ts'
import type { Json, JsonObject } from './json.ts'

export interface Field {
  readonly type: string
  readonly description?: string | null
  readonly access?: Readonly<Partial<Record<Operation, readonly Json[]>>>
  readonly constraints?: JsonObject
  readonly valueGenerator?: JsonObject
  /** Whether it is filled on read, and never stored. */
  readonly documentVersion?: boolean
  readonly fields?: Fields
  readonly items?: Field
  readonly entity?: string
  readonly versionValue?: string
  readonly query?: Json
}

export type Fields = Readonly<Record<string, Field>>
export type Operation = 'find' | 'insert' | 'update' | 'delete'

export interface IndexDefinition {
  readonly name?: string | null
  readonly unique?: boolean
  readonly fields: readonly { readonly field: string; readonly dir?: string }[]
}

export interface EntityInfo {
  readonly name: string
  readonly defaultVersion?: string | null
  readonly history?: boolean
  readonly enums?: readonly { readonly name: string; readonly values: readonly string[] }[]
  readonly indexes?: readonly IndexDefinition[]
  readonly hooks?: readonly JsonObject[]
  readonly datastore?: JsonObject
}

export interface Schema {
  readonly name: string
  readonly version: { readonly value: string; readonly changelog?: string }
  readonly status: { readonly value: string }
  readonly access?: Field['access']
  readonly fields: Fields
}

export interface Metadata {
  readonly entityInfo: EntityInfo
  readonly schema: Schema
  readonly warnings?: readonly Finding[]
  /** In the answer to a dry run. */
  readonly dryRun?: Impact
}

/** What a change of metadata would do. */
export interface Impact {
  readonly changes: boolean
  readonly entities: readonly EntityImpact[]
}

export interface EntityImpact {
  readonly entity: string
  readonly indexes: Readonly<Record<'build' | 'drop', readonly IndexChange[]>>
  readonly documents: {
    readonly checked: number
    readonly complete: boolean
    readonly problems: readonly {
      readonly version: string
      readonly errorCode: string
      readonly field: string
      readonly count: number
      readonly ids: readonly Json[]
    }[]
  }
  readonly dependents: readonly string[]
  /** Saved searches that would fail; without a version, for the default one. */
  readonly searches: {
    /** False if there are more than were looked at. */
    readonly complete: boolean
    readonly broken: readonly {
      readonly name: string | null
      readonly version: string | null
      readonly msg: string
    }[]
  }
  readonly access: readonly {
    readonly version: string
    readonly comparedWith: string | null
    /** Empty for the entity itself. */
    readonly field: string
    readonly operation: string
    readonly role: string
    readonly before: Grant | null
    readonly after: Grant | null
  }[]
}

interface IndexChange {
  readonly unique: boolean
  readonly fields: readonly string[]
}

export interface Finding {
  readonly severity: string
  readonly code: string
  readonly at: string
  readonly version?: string
  readonly msg: string
}

export interface VersionSummary {
  readonly version: string
  readonly changelog?: string
  readonly status: string
  readonly defaultVersion?: boolean
}

export interface Target {
  readonly entity: string
  /** The default version when absent. */
  readonly version?: string | undefined
}

/** What a find asks for: all matches, a range of positions with both ends, or a page after a cursor. */
export interface Find extends Target {
  readonly query?: Json | undefined
  /** A filter as text, in place of `query`. */
  readonly filter?: string | undefined
  readonly projection?: Json
  readonly sort?: Json | undefined
  readonly range?: readonly [number, number]
  readonly page?: FindPage
  readonly asOf?: string | undefined
  readonly isCounted?: boolean
}

export interface FindPage {
  readonly size: number
  /** `next` of the page before; absent for the first one. */
  readonly after?: string
  /** Whether all matches are counted. */
  readonly count?: boolean
}

export interface Found {
  readonly documents: readonly JsonObject[]
  /** Parallel to `documents`. */
  readonly versions: readonly string[]
  readonly matchCount: number
  /** The cursor of the next page, where there is one. */
  readonly next: string | undefined
}

export interface Written {
  readonly documents: readonly JsonObject[]
  readonly versions: readonly string[]
  readonly modifiedCount: number
  /** By document that failed. */
  readonly failures: readonly { readonly data: Json; readonly problems: readonly ServiceProblem[] }[]
}

/** Which documents to change, how, and whether to see only what would happen. */
export interface Update extends Target, Pick<Find, 'query' | 'filter'> {
  readonly update: Json
  /** Which documents the answer contains; none when absent. */
  readonly projection?: Json
  /** Only documents that still have one of these versions. */
  readonly documentVersions?: readonly string[]
  readonly isDryRun?: boolean
}

export interface Updated extends Written {
  readonly matchCount: number
  /** By hook, in the answer to a dry run. */
  readonly events: Readonly<Record<string, number>>
}

export interface PastVersion {
  readonly documentVersion: string
  readonly date: string
  readonly operation?: string
  readonly principal?: string
  readonly document?: JsonObject
}

/** Oldest first. */
export interface History {
  readonly versions: readonly PastVersion[]
  /** The one before them, where there is one. */
  readonly before?: PastVersion | undefined
  /** How many are older than these. */
  readonly older: number
}

export interface Caller {
  readonly roles: readonly string[]
  readonly principal?: string
  readonly claims?: JsonObject
}

export interface AccessDecision {
  readonly decision: 'allow' | 'deny' | 'conditional'
  readonly reason?: string
  readonly where?: readonly Json[]
  readonly rule?: { readonly at: string; readonly list: readonly Json[]; readonly [name: string]: Json }
}

export type Grant = 'yes' | 'no' | 'where'
export type Grants = Readonly<Record<string, Grant>>

export interface AccessReport {
  readonly roles: readonly string[]
  readonly access: Readonly<Record<Operation, Grants>>
  readonly fields: readonly ({ readonly path: string } & Readonly<Partial<Record<Operation, Grants>>>)[]
}

export interface DependencyNode {
  readonly name: string
  readonly dependencies?: readonly DependencyNode[]
}

export interface SmaltEvent {
  readonly id: string
  readonly seq: number
  readonly hook: string
  readonly entity: string
  readonly operation: string
  readonly documentId?: Json
  readonly principal?: string
  readonly date: string
  readonly changed?: readonly string[]
  readonly removed?: readonly string[]
  readonly before?: JsonObject
  readonly after?: JsonObject
}

export interface Sink {
  readonly name: string
  readonly kind?: string
  readonly url: string
  readonly roles: readonly string[]
  readonly status: string
  readonly position: number
  readonly failures: number
  readonly configured?: boolean
  readonly retryAt?: string
}

/** Requests that took at least `overMs`, newest first. */
export interface SlowRequests {
  readonly overMs: number
  readonly kept: number
  readonly requests: readonly SlowRequest[]
}

export interface SlowRequest {
  readonly at: string
  readonly operation: string
  readonly entity: string
  readonly version?: string
  readonly ms: number
  readonly errorCode?: string
  readonly matched?: number
  readonly modified?: number
  readonly returned?: number
  /** A filter in which `?` stands for each literal. */
  readonly query?: string
  readonly sort?: string
  /** The fields of an index that fits the query. */
  readonly index?: string
}
