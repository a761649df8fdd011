import type { NodeSample, PodUse, VolumeUse } from './page-message.ts'

interface Pressure {
  readonly some?: { readonly avg10?: number }
}

/** As much of the answer of /stats/summary as the page plots. */
export interface SummaryInput {
  readonly node?: {
    readonly cpu?: { readonly usageNanoCores?: number; readonly psi?: Pressure }
    readonly memory?: { readonly workingSetBytes?: number; readonly availableBytes?: number; readonly psi?: Pressure }
    readonly io?: { readonly psi?: Pressure }
    readonly fs?: DiskInput
    readonly rlimit?: { readonly curproc?: number; readonly maxpid?: number }
    readonly runtime?: { readonly imageFs?: DiskInput; readonly containerFs?: DiskInput }
  }
  readonly pods?: readonly {
    readonly podRef: { readonly uid: string }
    readonly cpu?: { readonly usageNanoCores?: number }
    readonly memory?: { readonly workingSetBytes?: number }
    readonly volume?: readonly (DiskInput & {
      readonly name: string
      readonly pvcRef?: { readonly namespace: string; readonly name: string }
    })[]
    readonly 'ephemeral-storage'?: DiskInput
  }[]
}

interface DiskInput {
  readonly availableBytes?: number
  readonly capacityBytes?: number
  readonly usedBytes?: number
}

type PodInput = NonNullable<SummaryInput['pods']>[number]

export interface Sample {
  readonly node: NodeSample
  readonly pods: Readonly<Record<string, PodUse>>
}

const NANOS = 1e9

/** One point of the plots. */
export function computeSample({ node = {}, pods = [] }: SummaryInput, at: number): Sample {
  const { cpu, memory, io, fs, rlimit } = node
  return {
    node: {
      at,
      cpu: toCores(cpu?.usageNanoCores),
      memory: memory?.workingSetBytes,
      memoryTotal: sum(memory?.workingSetBytes, memory?.availableBytes),
      // Also what others use: it is full for pods all the same.
      disk: sum(fs?.capacityBytes, fs?.availableBytes === undefined ? undefined : -fs.availableBytes),
      diskTotal: fs?.capacityBytes,
      processes: rlimit?.curproc,
      processesMost: rlimit?.maxpid,
      cpuPressure: cpu?.psi?.some?.avg10,
      memoryPressure: memory?.psi?.some?.avg10,
      ioPressure: io?.psi?.some?.avg10,
    },
    pods: Object.fromEntries(
      pods.map((pod): [string, PodUse] => [
        pod.podRef.uid,
        [toCores(pod.cpu?.usageNanoCores) ?? null, pod.memory?.workingSetBytes ?? null],
      ]),
    ),
  }
}

/** What each volume of a pod takes. */
export function computeVolumeUses({ volume = [] }: PodInput): readonly VolumeUse[] {
  return volume.map(({ name, usedBytes, capacityBytes, pvcRef }) => ({
    name,
    usedBytes,
    capacityBytes,
    claim: pvcRef,
  }))
}

function toCores(nanos: number | undefined): number | undefined {
  return nanos === undefined ? undefined : Math.round((nanos / NANOS) * 10_000) / 10_000
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}
