/** The last word of the probes about running containers, by container id; a missing id has no word yet. */
export interface ProbeVerdicts {
  readonly liveness: ReadonlyMap<string, boolean>
  readonly startup: ReadonlyMap<string, boolean>
}
