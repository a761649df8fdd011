import { isDeepStrictEqual } from 'node:util'
import { ImageNameError, parseImageName } from '../../pod/parse-image-name.ts'
import { textList } from '../kinds/collection-kinds.ts'
import type { Decoded } from '../kinds/field.ts'
import { duration, int32, text } from '../kinds/scalar-kinds.ts'

const FOLDER = { default: [], item: (value: string) => (value.startsWith('/') ? undefined : 'expected a whole path') }

function findFolderProblem(value: string): string | undefined {
  return value === '' || value.startsWith('/') ? undefined : 'expected a whole path'
}

function findImageNameProblem(value: string): string | undefined {
  try {
    if (value !== '') parseImageName(value)
    return undefined
  } catch (error) {
    if (!(error instanceof ImageNameError)) throw error
    return `expected the name of an image such as registry.k8s.io/pause:3.10: ${error.message}`
  }
}

/** Flags of the kubelets that ran Docker themselves. They mean the same again where the runtime is Docker, and nothing anywhere else. */
export const dockerFlags = {
  containerRuntime: text({
    default: '',
    flag: 'container-runtime',
    flagStays: true,
    about: '"docker" for Docker at --docker-endpoint; "remote" has no effect',
    rule: (value) =>
      ['', 'docker', 'remote'].includes(value)
        ? undefined
        : 'expected "docker" or "remote", or leave it out: it was removed in Kubernetes 1.27, rkt before that in 1.11; the runtime is what answers at containerRuntimeEndpoint',
  }),
  dockerEndpoint: text({
    default: '',
    flag: 'docker-endpoint',
    flagStays: true,
    about: 'socket of Docker, when containerRuntimeEndpoint does not name it; unix:///var/run/docker.sock when empty',
    rule: (value) =>
      value === '' || /^unix:\/\/\/./.test(value)
        ? undefined
        : `expected a socket such as unix:///var/run/docker.sock${value.startsWith('/') ? ', with unix:// in front' : ': Docker over TCP is not supported'}`,
  }),
  podInfraContainerImage: text({
    default: '',
    flag: 'pod-infra-container-image',
    flagStays: true,
    about: 'image of sandboxes',
    rule: findImageNameProblem,
  }),
  networkContainerImage: text({
    default: '',
    flag: 'network-container-image',
    flagStays: true,
    about: 'the same, by its oldest name',
    rule: findImageNameProblem,
  }),
  imagePullProgressDeadline: duration({
    default: '1m',
    flag: 'image-pull-progress-deadline',
    flagStays: true,
    about: 'time after which a pull without progress is given up',
    rule: (value) => (value > 0 ? undefined : 'expected a time above 0'),
  }),
  networkPlugin: text({
    default: '',
    flag: 'network-plugin',
    flagStays: true,
    about: '"cni" for CNI plugins; the bridge of Docker when empty',
    rule: (value) =>
      value === '' || value === 'cni'
        ? undefined
        : 'expected nothing or "cni": kubenet and others were removed in Kubernetes 1.24, use "cni" with the plugins bridge and host-local',
  }),
  networkPluginMtu: int32({
    default: 0,
    keepsZero: true,
    flag: 'network-plugin-mtu',
    flagStays: true,
    about: 'MTU that the first CNI plugin gets where its configuration has none; 0 for what it takes by itself',
    rule: (value) => (value >= 0 && value <= 65_535 ? undefined : 'expected a number from 0 to 65535'),
  }),
  cniConfDir: text({
    default: '',
    flag: 'cni-conf-dir',
    flagStays: true,
    about: 'folder with configurations of CNI networks, the first of which is used; /etc/cni/net.d when empty',
    rule: findFolderProblem,
  }),
  cniBinDir: textList({
    ...FOLDER,
    flag: 'cni-bin-dir',
    flagStays: true,
    about: 'folders of CNI plugins; /opt/cni/bin when empty',
  }),
  networkPluginDir: textList({
    ...FOLDER,
    flag: 'network-plugin-dir',
    flagStays: true,
    about: 'the same, by an older name',
  }),
  cniCacheDir: text({
    default: '',
    flag: 'cni-cache-dir',
    flagStays: true,
    about: 'folder for what CNI plugins answered; /var/lib/cni/cache when empty',
    rule: findFolderProblem,
  }),
}

type DockerFlags = Decoded<typeof dockerFlags>

/** Where Docker listens unless its own configuration says otherwise. */
const DOCKER_ENDPOINT = 'unix:///var/run/docker.sock'

/** How pods run on Docker. */
export interface DockerSettings {
  /** Empty when the agent may choose. */
  readonly pauseImage: string
  /** A pull without progress for so long is given up. */
  readonly pullProgressMs: number
  /** CNI plugins give pods their network, in place of Docker. */
  readonly cni: boolean
  readonly network: {
    readonly configurations: string
    readonly programs: readonly string[]
    readonly cache: string
    /** 0 for what plugins take by themselves. */
    readonly mtu: number
  }
}

export function toDockerSettings(flags: DockerFlags): DockerSettings {
  const programs = [...flags.cniBinDir, ...flags.networkPluginDir]
  return {
    pauseImage: flags.podInfraContainerImage || flags.networkContainerImage,
    pullProgressMs: flags.imagePullProgressDeadline,
    cni: flags.networkPlugin === 'cni',
    network: {
      configurations: flags.cniConfDir || '/etc/cni/net.d',
      programs: programs.length === 0 ? ['/opt/cni/bin'] : programs,
      cache: flags.cniCacheDir || '/var/lib/cni/cache',
      mtu: flags.networkPluginMtu,
    },
  }
}

/** The socket that these flags ask for; undefined when they ask for none. */
export function findDockerEndpoint({
  containerRuntime,
  dockerEndpoint,
}: Pick<DockerFlags, 'containerRuntime' | 'dockerEndpoint'>): string | undefined {
  if (dockerEndpoint !== '') return dockerEndpoint
  return containerRuntime === 'docker' ? DOCKER_ENDPOINT : undefined
}

/** The names of those that were given, without --container-runtime=remote, which asks for what there is anyway. */
export function listDockerFlags(flags: DockerFlags): readonly string[] {
  return Object.entries(dockerFlags)
    .filter(([name, field]) => !isDeepStrictEqual(flags[name as keyof DockerFlags], field.unset))
    .map(([, { flag }]) => flag?.name ?? '')
    .filter((name) => name !== 'container-runtime' || flags.containerRuntime !== 'remote')
}

const ONLY_WITH_CNI: ReadonlySet<string> = new Set(
  [
    dockerFlags.networkPluginMtu,
    dockerFlags.cniConfDir,
    dockerFlags.cniBinDir,
    dockerFlags.networkPluginDir,
    dockerFlags.cniCacheDir,
  ].map(({ flag }) => flag?.name ?? ''),
)

/** One line for each that was given and does nothing beside the others. */
export function listDockerFlagWarnings(flags: DockerFlags): readonly string[] {
  const idle = flags.networkPlugin === 'cni' ? [] : listDockerFlags(flags).filter((name) => ONLY_WITH_CNI.has(name))
  return [
    ...(flags.containerRuntime === 'remote'
      ? ['Flag --container-runtime=remote has no effect: it was removed in Kubernetes 1.27, leave it out']
      : []),
    ...idle.map((name) => `Flag --${name} has no effect without --network-plugin=cni`),
  ]
}
