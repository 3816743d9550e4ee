/** The store that an import fills: that of the configuration, or a temporary one for a dry run. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Limits } from '../../base/limits.ts'
import { entitiesFrom } from '../../lightblue/metadata/entities.ts'
import { type Loader, openLoader } from '../../service/load/load.ts'
import { isStorePresent } from '../../service/require-store.ts'

interface NamedLocation {
  readonly name: string
  readonly location: string
}

interface TargetOptions {
  readonly datasources: readonly NamedLocation[]
  readonly limits: Limits
  readonly dropsUnknown: boolean
  readonly isDryRun: boolean
}

/** The name that histories record for everything that an import writes. */
const PRINCIPAL = 'import'

export async function openTarget({ isDryRun, ...options }: TargetOptions): Promise<Loader> {
  const onInternalError = (error: unknown): void => {
    process.stderr.write(`smalt: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  const loaderOptions = { ...options, principal: PRINCIPAL, onInternalError }
  if (!isDryRun) return openLoader(loaderOptions)
  await using opened = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'smalt-import-'))
  opened.defer(() => rmSync(directory, { recursive: true, force: true }))
  const datasources = options.datasources.map(({ name }) => ({
    name,
    location: `sqlite:${join(directory, name)}`,
  }))
  const loader = opened.use(await openLoader({ ...loaderOptions, datasources }))
  await copyMetadata(loaderOptions, loader)
  const owned = opened.move()
  return { ...loader, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The metadata that the real store has already: an import may add versions and documents to it. */
async function copyMetadata(options: Parameters<typeof openLoader>[0], to: Loader): Promise<void> {
  if (!(await isStorePresent(options.datasources[0]!.location))) return
  await using from = await openLoader(options)
  await to.putMetadata(entitiesFrom(from.metadata(), to).entities)
}
