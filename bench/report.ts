/** The outcome of a run, for people and for machines. */
import { cpus, loadavg } from 'node:os'
import type { Drained } from './drain.ts'
import type { Followed } from './follow.ts'
import type { Measured, Side } from './measure.ts'
import type { Storage } from './place.ts'
import type { Transferred } from './transfer.ts'

export interface Outcome {
  readonly machine: Machine
  readonly documents: number
  readonly secondsPerSide: number
  readonly fillPerSecond: number
  readonly coldStartMs?: { readonly subject: number; readonly limit: number }
  readonly residentMegabytes: { readonly afterFill: number; readonly afterLoad: number }
  readonly storage?: StorageFacts
  /** Of the plain table. */
  readonly tablesStorage?: StorageFacts
  readonly figures: readonly Measured[]
  readonly drained?: Drained
  readonly followed?: Followed
  readonly transferred?: Transferred
}

interface StorageFacts {
  readonly afterFill: Storage
  readonly afterLoad: Storage
}

export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly node: string
  /** Which database, and its version. */
  readonly database: string
  /** Of the minute before the run: how busy the machine was with other things. */
  readonly loadAverage: number
}

export function machineFacts(database: string): Machine {
  const processors = cpus()
  return {
    cores: processors.length,
    processor: `${process.arch} ${processors[0]?.model ?? ''}`.trim(),
    node: process.version,
    database,
    loadAverage: loadavg()[0]!,
  }
}

export function printOutcome(outcome: Outcome): string {
  const {
    machine,
    documents,
    secondsPerSide,
    coldStartMs: cold,
    residentMegabytes: memory,
    figures,
    drained,
    followed,
    transferred,
  } = outcome
  const lines = [
    `${machine.cores} cores (${machine.processor}), node ${machine.node}, ${machine.database}, ` +
      `load before the run ${machine.loadAverage.toFixed(2)}`,
    `${whole(documents)} documents of about 1 KB, three indexes; ${secondsPerSide} s a side in turns, medians`,
    '',
    ...figures.map(printFigure),
    ...(figures.length > 0 ? [''] : []),
    `fill over HTTP, 1,000 a request   ${whole(outcome.fillPerSecond)} documents/s`,
    ...(cold ? [`cold start   ${whole(cold.subject)} ms   limit ${whole(cold.limit)} ms`] : []),
    `memory   ${whole(memory.afterFill)} MB after the fill   ${whole(memory.afterLoad)} MB after all load`,
    ...(outcome.storage ? [printStorage('disk', outcome.storage)] : []),
    ...(outcome.tablesStorage ? [printStorage('disk of the plain table', outcome.tablesStorage)] : []),
    ...(drained ? [printDrained(drained)] : []),
    ...(followed ? printFollowed(followed) : []),
    ...(transferred ? printTransferred(transferred) : []),
  ]
  return `${lines.join('\n')}\n`
}

function printStorage(title: string, { afterFill, afterLoad }: StorageFacts): string {
  const { updates, hotUpdates } = afterLoad
  const share =
    updates === 0 ? '' : `   ${Math.round((100 * hotUpdates) / updates)} % of ${whole(updates)} updates HOT`
  return `${title}   ${whole(afterFill.megabytes)} MB with indexes after the fill${share}`
}

function printFigure({ title, connections, subject, limit, against, ratio, ...more }: Measured): string {
  const label = `${title}, ${connections} connection${connections === 1 ? '' : 's'}`
  const columns = [
    label.padEnd(46),
    `${whole(subject.perSecond).padStart(8)}/s`,
    `${against.padStart(5)} ${whole(limit.perSecond).padStart(8)}/s`,
    `ratio ${ratio.toFixed(2)} (${more.ratios.map((each) => each.toFixed(2)).join('–')})`,
    `p50 ${ms(subject.p50Ms)} / ${ms(limit.p50Ms)}`,
    `p99 ${ms(subject.p99Ms)} / ${ms(limit.p99Ms)} ms`,
    ...(subject.cpuMicros > 0 ? [`cpu ${micros(subject)} / ${micros(limit)} µs`] : []),
    ...(more.errors > 0 ? [`ERRORS ${more.errors}: ${more.problem}`] : []),
    ...(more.loadCpu > 0.9 ? [`(load generator at ${whole(more.loadCpu * 100)} % of a core)`] : []),
  ]
  return columns.join('   ')
}

function printDrained({ eventsPerSecond, eventsPerRequest, bytesPerEvent, cpuMicros }: Drained): string {
  return (
    `events read by one reader   ${whole(eventsPerSecond)}/s   ${whole(eventsPerRequest)} a request, ` +
    `${whole(bytesPerEvent)} bytes each   cpu ${cpuMicros.toFixed(1)} µs`
  )
}

function printFollowed({ followers, residentMegabytes: memory, ...followed }: Followed): readonly string[] {
  const { writesPerSecond, deliveredPerSecond, behindMs, followersCpu, missing, problem } = followed
  const lost = missing === 0 && problem === undefined ? '' : `   ERRORS ${missing} missing: ${problem}`
  return [
    `events sent to ${whole(followers)} followers   ${whole(deliveredPerSecond)}/s of ` +
      `${writesPerSecond.toFixed(1)} writes/s   last one ${whole(behindMs)} ms behind its write   ` +
      `(followers at ${whole(followersCpu * 100)} % of a core)${lost}`,
    `  memory   ${whole(memory.before)} MB before   ${whole(memory.connected)} MB with all of them   ` +
      `${whole(memory.afterWrites)} MB after the writes   ${whole(memory.afterwards)} MB when they have left`,
  ]
}

function printTransferred({ peakMegabytes: peak, ...transferred }: Transferred): readonly string[] {
  const { documents, importsPerSecond, insertsPerSecond, exportsPerSecond, ratio } = transferred
  return [
    `smalt import   ${whole(importsPerSecond)} documents/s   inserts of 1,000 on 4 connections ` +
      `${whole(insertsPerSecond)}/s   ratio ${ratio.toFixed(2)}   smalt export ${whole(exportsPerSecond)}/s`,
    `  peak of memory with ${whole(documents)} documents   import ${whole(peak.importing)} MB   ` +
      `export ${whole(peak.exporting)} MB   service ${whole(peak.serviceImporting)} MB while importing, ` +
      `${whole(peak.serviceExporting)} MB while exporting`,
  ]
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function micros({ cpuMicros }: Side): string {
  return cpuMicros.toFixed(cpuMicros < 100 ? 1 : 0)
}

function ms(value: number): string {
  return value.toFixed(2)
}
