/** Reads the options of `smalt import lightblue`. An option that would have no effect is refused. */
import { readFileSync } from 'node:fs'
import type { TlsIdentity } from '../../lightblue/rest/rest-client.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'

export interface ImportFlags {
  readonly metadata?: string
  readonly data?: string
  readonly database?: string
  readonly rejects?: string
  readonly resume?: string
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
  readonly 'drop-unknown'?: boolean
  readonly 'dry-run'?: boolean
  readonly json?: boolean
}

export interface ImportOptions {
  readonly metadata: Origin | undefined
  readonly data: Origin | undefined
  readonly database: string | undefined
  readonly rejects: string
  readonly resume: string | undefined
  readonly tls: TlsIdentity
  /** Sent to a running Lightblue. */
  readonly authorization: string | undefined
  readonly dropsUnknown: boolean
  readonly isDryRun: boolean
  readonly isJson: boolean
}

/** An address of a running Lightblue, or a path. */
export interface Origin {
  readonly kind: 'address' | 'path'
  readonly text: string
}

const REJECTS = 'lightblue-rejects.ndjson'

/** A variable, because other users of the machine can see the arguments of a process. */
const AUTHORIZATION = 'LIGHTBLUE_AUTHORIZATION'

export function importOptions(flags: ImportFlags, environment: Environment): ImportOptions {
  const metadata = originFrom('--metadata', flags.metadata)
  const data = originFrom('--data', flags.data)
  if (!metadata && !data) throw usageError('import lightblue needs --metadata, --data or both')
  const isRemote = metadata?.kind === 'address' || data?.kind === 'address'
  const refuse = (name: keyof ImportFlags, isUseful: boolean, reason: string): void => {
    if (flags[name] !== undefined && !isUseful) throw usageError(`--${name} is only for ${reason}`)
  }
  refuse('database', data?.kind === 'path', 'a dump as --data')
  refuse('resume', data?.kind === 'address', 'an address as --data')
  refuse('rejects', data !== undefined, 'an import with --data')
  refuse('drop-unknown', data !== undefined, 'an import with --data')
  for (const name of ['cert', 'key', 'ca'] as const)
    refuse(name, isRemote, 'an address as --metadata or --data')
  if ((flags.cert === undefined) !== (flags.key === undefined))
    throw usageError('--cert and --key need each other')
  return {
    metadata,
    data,
    database: flags.database,
    rejects: flags.rejects ?? REJECTS,
    resume: flags.resume,
    tls: tlsFrom(flags),
    authorization: environment[AUTHORIZATION],
    dropsUnknown: flags['drop-unknown'] ?? false,
    isDryRun: flags['dry-run'] ?? false,
    isJson: flags.json ?? false,
  }
}

function originFrom(flag: string, text: string | undefined): Origin | undefined {
  if (text === undefined) return undefined
  if (text === '') throw usageError(`${flag} needs a path or an address`)
  if (!/^https?:\/\//i.test(text)) return { kind: 'path', text }
  if (!URL.canParse(text)) throw usageError(`${flag} is not a valid address`)
  return { kind: 'address', text }
}

function tlsFrom(flags: ImportFlags): TlsIdentity {
  const files = (['cert', 'key', 'ca'] as const).flatMap((name) => {
    const path = flags[name]
    return path === undefined ? [] : [[name, contentOf(`--${name}`, path)] as const]
  })
  return Object.fromEntries(files)
}

function contentOf(flag: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Exit(EXIT.config, `the file of ${flag} cannot be read: ${(error as Error).message}`)
  }
}
