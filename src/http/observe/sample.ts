/** One measured value of a metric, as the Prometheus registry takes it. */
export interface Sample {
  readonly value: number
  readonly labels: Labels
  /** Differs from the name of the metric for the parts of a histogram. */
  readonly metricName?: string
}

export type Labels = Readonly<Record<string, string | number>>
