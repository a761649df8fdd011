/** Where one CPU of the kernel sits. Cores and caches have the number of their lowest CPU that is online, which no other has. */
export interface CpuPlace {
  readonly cpu: number
  readonly core: number
  /** The CPUs that share the last cache before the memory; the whole socket where nothing is known of caches. */
  readonly uncoreCache: number
  readonly numaNode: number
  readonly socket: number
}
