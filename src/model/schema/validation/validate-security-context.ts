import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '../../generated/core-v1.ts'
import type { FieldPath } from '../field-path.ts'
import { descendingPath, sysctlName } from './name-rules.ts'
import type { ProblemList } from './problem-list.ts'

const MAX_ID = 2 ** 31 - 1
const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']
const MAX_PROFILE_BYTES = 4095

/** Security settings of one container. */
export function validateSecurityContext(
  context: SecurityContext,
  isHostUsers: boolean,
  path: FieldPath,
  problems: ProblemList,
): void {
  validateIds(context, path, problems)
  if (context.procMount !== undefined) {
    problems.oneOf(path.child('procMount'), context.procMount, ['Default', 'Unmasked'])
    if (context.procMount === 'Unmasked' && isHostUsers) {
      problems.invalid(path.child('procMount'), context.procMount, 'Unmasked needs hostUsers: false')
    }
  }
  if (context.allowPrivilegeEscalation === false) {
    const at = path.child('allowPrivilegeEscalation')
    if (context.privileged === true) problems.invalid(at, false, 'must not be false when `privileged` is true')
    if (context.capabilities?.add?.includes('CAP_SYS_ADMIN') === true) {
      problems.invalid(at, false, 'must not be false when `capabilities.add` has CAP_SYS_ADMIN')
    }
  }
  validateSeccomp(context.seccompProfile, path.child('seccompProfile'), problems)
  validateAppArmor(context.appArmorProfile, path.child('appArmorProfile'), problems)
}

/** Security settings of the pod as a whole. */
export function validatePodSecurityContext(
  context: PodSecurityContext,
  spec: PodSpec,
  path: FieldPath,
  problems: ProblemList,
): void {
  validateIds(context, path, problems)
  problems.inRange(path.child('fsGroup'), context.fsGroup, 0, MAX_ID)
  for (const [index, group] of (context.supplementalGroups ?? []).entries()) {
    problems.inRange(path.child('supplementalGroups').index(index), group, 0, MAX_ID)
  }
  for (const [name, supported] of Object.entries({
    fsGroupChangePolicy: ['Always', 'OnRootMismatch'],
    supplementalGroupsPolicy: ['Merge', 'Strict'],
    seLinuxChangePolicy: ['MountOption', 'Recursive'],
  } as const)) {
    const value = context[name as 'fsGroupChangePolicy']
    if (value !== undefined) problems.oneOf(path.child(name), value, supported)
  }
  validateSysctls(context, spec, path.child('sysctls'), problems)
  validateSeccomp(context.seccompProfile, path.child('seccompProfile'), problems)
  validateAppArmor(context.appArmorProfile, path.child('appArmorProfile'), problems)
}

function validateIds(
  context: Pick<SecurityContext, 'runAsUser' | 'runAsGroup'>,
  path: FieldPath,
  problems: ProblemList,
): void {
  problems.inRange(path.child('runAsUser'), context.runAsUser, 0, MAX_ID)
  problems.inRange(path.child('runAsGroup'), context.runAsGroup, 0, MAX_ID)
}

function validateSysctls(context: PodSecurityContext, spec: PodSpec, path: FieldPath, problems: ProblemList): void {
  const seen = new Set<string>()
  for (const [index, { name }] of (context.sysctls ?? []).entries()) {
    const at = path.index(index).child('name')
    problems.name(at, name, sysctlName)
    const dotted = name.replaceAll('/', '.')
    if (seen.has(name)) problems.duplicate(at, name)
    seen.add(name)
    if (spec.hostNetwork === true && dotted.startsWith('net.')) {
      problems.invalid(at, name, 'belongs to the network of the host, which the pod shares')
    }
    if (spec.hostIPC === true && /^(?:kernel\.(?:sem|shm|msg)|fs\.mqueue\.)/.test(dotted)) {
      problems.invalid(at, name, 'belongs to the IPC of the host, which the pod shares')
    }
  }
}

function validateSeccomp(profile: SeccompProfile | undefined, path: FieldPath, problems: ProblemList): void {
  if (profile === undefined) return
  problems.oneOf(path.child('type'), profile.type, PROFILE_TYPES)
  const at = path.child('localhostProfile')
  if (profile.type !== 'Localhost') {
    if (profile.localhostProfile !== undefined) {
      problems.invalid(at, profile.localhostProfile, 'only for type Localhost')
    }
  } else if (profile.localhostProfile === undefined) problems.required(at, 'type Localhost needs it')
  else problems.matches(at, profile.localhostProfile, descendingPath)
}

function validateAppArmor(profile: AppArmorProfile | undefined, path: FieldPath, problems: ProblemList): void {
  if (profile === undefined) return
  problems.oneOf(path.child('type'), profile.type, PROFILE_TYPES)
  const at = path.child('localhostProfile')
  const name = profile.localhostProfile
  if (profile.type !== 'Localhost') {
    if (name !== undefined) problems.invalid(at, name, 'only for type Localhost')
  } else if (!name?.trim()) problems.required(at, 'type Localhost needs it')
  else if (name !== name.trim()) problems.invalid(at, name, 'has spaces around it')
  else if (Buffer.byteLength(name) > MAX_PROFILE_BYTES) problems.tooLong(at, MAX_PROFILE_BYTES)
}
