/** One value of a metric, in the form that the Prometheus registry expects. */
export interface Sample {
  readonly value: number
  readonly labels: Labels
  /** The name of a part of a histogram, which differs from the name of the metric. */
  readonly metricName?: string
}

export type Labels = Readonly<Record<string, string | number>>
