import { SecurityProfile_ProfileType as ProfileType } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { SecurityProfile } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { AppArmorProfile, SeccompProfile, SecurityContext } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

const APPARMOR_ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/'

interface NamedContainer {
  readonly name: string
  readonly securityContext?: SecurityContext | undefined
}

export interface SeccompSettings {
  /** What holds for a container that says nothing: the runtime's profile, or none. */
  readonly seccompDefault: boolean
  /** Where the profiles of this node are. */
  readonly seccompDirectory: string
}

/** Which system calls a container may make: its own profile, else the pod's, else the node's default. */
export function computeSeccompProfile(pod: Pod, container: NamedContainer, settings: SeccompSettings): SecurityProfile {
  const profile = container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile
  if (profile === undefined) return plain(settings.seccompDefault ? ProfileType.RuntimeDefault : ProfileType.Unconfined)
  return toProfile('seccomp', profile, (name) => `${settings.seccompDirectory}/${name}`)
}

/** The AppArmor profile of a container, and the same as the text that older runtimes read. */
export interface AppArmorChoice {
  readonly apparmor: SecurityProfile | undefined
  readonly apparmorProfile: string
}

/** The AppArmor profile: the container's field, else the old annotation, else the pod's field, else the runtime's choice. */
export function computeAppArmorProfile(pod: Pod, container: NamedContainer): AppArmorChoice {
  const profile =
    container.securityContext?.appArmorProfile ??
    annotatedProfile(pod, container.name) ??
    pod.spec.securityContext?.appArmorProfile
  if (profile === undefined) return { apparmor: undefined, apparmorProfile: '' }
  const apparmor = toProfile('AppArmor', profile, (name) => name)
  return { apparmor, apparmorProfile: oldText(apparmor) }
}

function annotatedProfile(pod: Pod, containerName: string): AppArmorProfile | undefined {
  const text = pod.metadata.annotations?.[`${APPARMOR_ANNOTATION_PREFIX}${containerName}`]
  if (text === undefined || text === '') return undefined
  if (text === 'runtime/default') return { type: 'RuntimeDefault' }
  if (text === 'unconfined') return { type: 'Unconfined' }
  if (text.startsWith('localhost/')) return { type: 'Localhost', localhostProfile: text.slice('localhost/'.length) }
  throw new ContainerConfigError(
    `Cannot use "${text}" as AppArmor profile of container "${containerName}": expected "runtime/default", "unconfined" or "localhost/<profile>"`,
  )
}

function toProfile(
  kind: string,
  profile: SeccompProfile | AppArmorProfile,
  locate: (name: string) => string,
): SecurityProfile {
  switch (profile.type) {
    case 'RuntimeDefault':
      return plain(ProfileType.RuntimeDefault)
    case 'Unconfined':
      return plain(ProfileType.Unconfined)
    case 'Localhost':
      if (profile.localhostProfile === undefined || profile.localhostProfile === '') {
        throw new ContainerConfigError(
          `Cannot use a ${kind} profile of type "Localhost": localhostProfile must be set with it`,
        )
      }
      return { profileType: ProfileType.Localhost, localhostRef: locate(profile.localhostProfile) }
    default:
      throw new ContainerConfigError(
        `Cannot use "${profile.type}" as type of a ${kind} profile: expected RuntimeDefault, Unconfined or Localhost`,
      )
  }
}

function plain(profileType: ProfileType): SecurityProfile {
  return { profileType, localhostRef: '' }
}

function oldText({ profileType, localhostRef }: SecurityProfile): string {
  switch (profileType) {
    case ProfileType.RuntimeDefault:
      return 'runtime/default'
    case ProfileType.Unconfined:
      return 'unconfined'
    case ProfileType.Localhost:
      return `localhost/${localhostRef}`
  }
}
