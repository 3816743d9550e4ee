/**
 * `smalt lint`: reports likely mistakes in the metadata of a store. Warnings have an exit code of their own.
 */
import { type EntityFindings, lintStore } from '../../service/lint-store.ts'
import type { Config } from '../config/config.ts'
import { EXIT } from '../exit.ts'
import { openExit } from './open-exit.ts'

interface LintFlags {
  readonly entity?: string
  readonly json?: boolean
}

export async function runLint(
  { datasources }: Pick<Config, 'datasources'>,
  { entity, json = false }: LintFlags,
): Promise<void> {
  const linted = await lintStore(datasources, entity).catch((error: unknown) => {
    throw openExit(error, datasources[0]!.location, ', or ask it itself: GET /metadata/{entity}/lint')
  })
  process.stdout.write(json ? `${JSON.stringify(linted, undefined, 2)}\n` : printFindings(linted))
  const warnings = linted.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'warning'))
  if (warnings.length === 0) return
  process.exitCode = EXIT.warnings
}

function printFindings(linted: readonly EntityFindings[]): string {
  const lines = linted.flatMap(({ entity, findings }) =>
    findings.map(({ severity, code, at, version, msg }) => {
      const place = version === undefined ? entity : `${entity} ${version}`
      return `${severity}  ${place}  ${code}  ${at}\n  ${msg}\n`
    }),
  )
  return lines.length === 0 ? 'nothing is doubtful\n' : lines.join('')
}
