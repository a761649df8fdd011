import { MountPropagation } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ImageSpec, Mount } from '../../protocols/cri/generated/runtime-v1.ts'
import type { Pod } from '../../model/pod/pod.ts'
import { wantsEtcHosts } from './network/compute-etc-hosts.ts'
import type { UserNamespaceMapping } from '../../model/pod/user-namespace.ts'

/** Something of the node, or of an image, that a container sees under a path. */
export interface ContainerMount {
  readonly containerPath: string
  /** Empty for the content of an image. */
  readonly hostPath: string
  readonly readOnly: boolean
  readonly recursiveReadOnly: boolean
  readonly propagation: 'None' | 'HostToContainer' | 'Bidirectional'
  readonly selinuxRelabel: boolean
  readonly image?: { readonly spec: ImageSpec; readonly subPath: string } | undefined
}

export interface MountsInput {
  readonly pod: Pod
  readonly podIps: readonly string[]
  /** Of what others add first, then of volumes in the order of the spec. */
  readonly mounts: readonly ContainerMount[]
  readonly etcHostsPath: string
  /** Where the container's termination message goes, on the node and in the container; undefined when it has no such path. */
  readonly terminationLog: { readonly hostPath: string; readonly containerPath: string } | undefined
  readonly selinuxEnabled: boolean
  readonly userNamespace: UserNamespaceMapping | undefined
}

const PROPAGATIONS = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
} as const

/** All mounts of a container: what it asked for, then the two files that every container gets. */
export function computeMounts(input: MountsInput): Mount[] {
  const { pod, podIps, mounts, terminationLog } = input
  const etcHosts = { hostPath: input.etcHostsPath, containerPath: '/etc/hosts' }
  return [
    ...mounts,
    ...(wantsEtcHosts(pod, mounts, podIps) ? [ownFile(etcHosts)] : []),
    ...(terminationLog === undefined ? [] : [ownFile(terminationLog)]),
  ].map((mount) => toMount(mount, input))
}

function ownFile(paths: Pick<ContainerMount, 'hostPath' | 'containerPath'>): ContainerMount {
  return { ...paths, readOnly: false, recursiveReadOnly: false, propagation: 'None', selinuxRelabel: true }
}

function toMount(
  mount: ContainerMount,
  { selinuxEnabled, userNamespace: mapping }: Pick<MountsInput, 'selinuxEnabled' | 'userNamespace'>,
): Mount {
  const { containerPath, hostPath, readOnly, recursiveReadOnly, propagation, selinuxRelabel, image } = mount
  return {
    containerPath,
    hostPath,
    readonly: readOnly,
    recursiveReadOnly,
    propagation: PROPAGATIONS[propagation],
    selinuxRelabel: selinuxRelabel && selinuxEnabled,
    uidMappings: mapping?.uids ?? [],
    gidMappings: mapping?.gids ?? [],
    image: image?.spec,
    imageSubPath: image?.subPath ?? '',
  }
}
