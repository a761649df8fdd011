/** The parts of Docker's answers that are used here, under Docker's names. */
export interface DockerVersion {
  readonly Version: string
  readonly ApiVersion: string
}

export interface DockerInfo {
  readonly ID?: string
  readonly CgroupDriver?: string
  readonly CgroupVersion?: string
  readonly DockerRootDir: string
  readonly DriverStatus?: readonly (readonly [string, string])[] | null
  readonly LoggingDriver?: string
  readonly LiveRestoreEnabled?: boolean
  readonly SecurityOptions?: readonly string[] | null
  readonly Runtimes?: Readonly<Record<string, unknown>> | null
  readonly DefaultRuntime?: string
  readonly Warnings?: readonly string[] | null
}

/** An entry of the list of containers. */
export interface ListedContainer {
  readonly Id: string
  readonly Names?: readonly string[] | null
  readonly Image: string
  readonly ImageID: string
  /** Seconds since the epoch. */
  readonly Created: number
  readonly State: string
  readonly Labels?: Labels | null
  readonly SizeRw?: number
  readonly HostConfig?: { readonly NetworkMode?: string }
}

export type Labels = Readonly<Record<string, string>>

export interface InspectedContainer {
  readonly Id: string
  readonly Name: string
  readonly Created: string
  readonly Image: string
  readonly LogPath?: string
  readonly ResolvConfPath?: string
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    readonly OOMKilled: boolean
    readonly Pid: number
    readonly ExitCode: number
    readonly Error: string
    readonly StartedAt: string
    readonly FinishedAt: string
  }
  readonly Config: {
    readonly Image: string
    readonly Labels?: Labels | null
    readonly Tty?: boolean
    readonly OpenStdin?: boolean
    readonly StdinOnce?: boolean
    readonly StopSignal?: string
    readonly User?: string
  }
  readonly HostConfig: {
    readonly NetworkMode: string
    readonly PidMode?: string
    readonly IpcMode?: string
    readonly Runtime?: string
    readonly CpuShares?: number
    readonly CpuQuota?: number
    readonly CpuPeriod?: number
    readonly CpusetCpus?: string
    readonly CpusetMems?: string
    readonly Memory?: number
    readonly MemorySwap?: number
    readonly OomScoreAdj?: number
    readonly LogConfig?: { readonly Type?: string }
    readonly Mounts?: readonly BindMount[] | null
  }
  readonly Mounts?: readonly { readonly Source?: string; readonly Destination?: string; readonly RW?: boolean }[] | null
  readonly NetworkSettings?: {
    readonly Networks?: Readonly<
      Record<string, { readonly IPAddress?: string; readonly GlobalIPv6Address?: string } | null>
    > | null
  }
}

/** A bind mount as it is asked for. */
export interface BindMount {
  readonly Type: 'bind'
  readonly Source: string
  readonly Target: string
  readonly ReadOnly: boolean
  readonly BindOptions: {
    readonly Propagation?: string
    readonly CreateMountpoint?: boolean
    readonly ReadOnlyNonRecursive?: boolean
    readonly ReadOnlyForceRecursive?: boolean
  }
}

export interface ListedImage {
  readonly Id: string
  readonly RepoTags?: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
  readonly Size: number
  readonly SharedSize?: number
}

export interface InspectedImage {
  readonly Id: string
  readonly RepoTags?: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
  readonly Size: number
  readonly Config?: { readonly User?: string } | null
}

export interface DockerEvent {
  readonly Type: string
  readonly Action: string
  readonly Actor: { readonly ID: string; readonly Attributes?: Labels | null }
  readonly timeNano?: number
  readonly time: number
}
