/**
 * `smalt lint`: reports likely mistakes in the metadata of a store. Warnings have an exit code of their own.
 */
import { ServiceError } from '../../base/errors.ts'
import { maskLocation } from '../../base/location.ts'
import { type EntityFindings, lintStore } from '../../service/lint-store.ts'
import { OpenError } from '../../service/open.ts'
import type { Config } from '../config/config.ts'
import { EXIT, Exit } from '../exit.ts'

export interface LintFlags {
  readonly entity?: string
  readonly json?: boolean
}

export async function runLint(
  { datasources }: Pick<Config, 'datasources'>,
  { entity, json = false }: LintFlags,
): Promise<void> {
  const linted = await lintStore(datasources, entity).catch((error: unknown) => {
    throw asExit(error, datasources[0]!.location)
  })
  process.stdout.write(json ? `${JSON.stringify(linted, undefined, 2)}\n` : told(linted))
  const warnings = linted.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'warning'))
  if (warnings.length === 0) return
  process.exitCode = EXIT.warnings
}

function told(linted: readonly EntityFindings[]): string {
  const lines = linted.flatMap(({ entity, findings }) =>
    findings.map(({ severity, code, at, version, msg }) => {
      const place = version === undefined ? entity : `${entity} ${version}`
      return `${severity}  ${place}  ${code}  ${at}\n  ${msg}\n`
    }),
  )
  return lines.length === 0 ? 'nothing is doubtful\n' : lines.join('')
}

function asExit(error: unknown, location: string): unknown {
  if (error instanceof ServiceError) {
    const isOutOfReach = error.code === 'crud:Unavailable'
    return new Exit(isOutOfReach ? EXIT.unreachable : EXIT.failed, error.message)
  }
  if (!(error instanceof OpenError)) return error
  if (error.reason === 'locked') {
    return new Exit(
      EXIT.conflict,
      `the data in ${maskLocation(location)} are in use by another Smalt process; end it first, or ask it itself: ` +
        'GET /metadata/{entity}/lint',
    )
  }
  return new Exit(error.reason === 'location' ? EXIT.config : EXIT.unreachable, error.message)
}
