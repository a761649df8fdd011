import { SecurityProfile_ProfileType as ProfileType } from '../../cri/generated/runtime-v1.ts'
import type { LinuxContainerSecurityContext } from '../../cri/generated/runtime-v1.ts'
import { UnsupportedError } from './unsupported-error.ts'

type Context = Pick<LinuxContainerSecurityContext, 'seccomp' | 'apparmor' | 'selinuxOptions'> & {
  readonly noNewPrivs: boolean
  readonly privileged: boolean
}

/** The security options of a container. A seccomp profile of the node is passed with its content, which the caller has read. */
export function computeSecurityOptions(context: Context, seccompProfile: string | undefined): string[] {
  const { noNewPrivs, selinuxOptions } = context
  const selinux = Object.entries({
    user: selinuxOptions?.user,
    role: selinuxOptions?.role,
    type: selinuxOptions?.type,
    level: selinuxOptions?.level,
  }).flatMap(([part, value]) => (value === undefined || value === '' ? [] : [`label=${part}:${value}`]))
  return [
    ...(noNewPrivs ? ['no-new-privileges'] : []),
    ...seccompOptions(context, seccompProfile),
    ...appArmorOptions(context),
    ...selinux,
  ]
}

/** Privileged containers have none by Docker's own rule. */
function seccompOptions({ seccomp, privileged }: Context, profile: string | undefined): string[] {
  if (privileged) return []
  switch (seccomp?.profileType) {
    case ProfileType.RuntimeDefault:
      return []
    case ProfileType.Localhost:
      return [`seccomp=${compact(profile, seccomp.localhostRef)}`]
    default:
      return ['seccomp=unconfined']
  }
}

function compact(profile: string | undefined, path: string): string {
  try {
    return JSON.stringify(JSON.parse(profile ?? ''))
  } catch (error) {
    throw new UnsupportedError(`Cannot use the seccomp profile "${path}": expected a file with JSON`, { cause: error })
  }
}

function appArmorOptions({ apparmor, privileged }: Context): string[] {
  if (apparmor === undefined || privileged) return []
  if (apparmor.profileType === ProfileType.Unconfined) return ['apparmor=unconfined']
  if (apparmor.profileType === ProfileType.Localhost) return [`apparmor=${apparmor.localhostRef}`]
  return []
}
