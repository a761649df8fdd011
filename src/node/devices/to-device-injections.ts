import type { ContainerInjections } from '../../pods/containers/container-injections.ts'
import type { ContainerAllocateResponse } from './generated/device-plugin-v1beta1.ts'

/** What a device plugin wants a container to have, in the terms of its configuration. */
export function toDeviceInjections({
  envs,
  mounts,
  devices,
  annotations,
  cdiDevices,
}: ContainerAllocateResponse): ContainerInjections {
  return {
    variables: Object.entries(envs).map(([name, value]) => ({ name, value })),
    mounts: mounts.map(({ containerPath, hostPath, readOnly }) => ({
      containerPath,
      hostPath,
      readOnly,
      recursiveReadOnly: false,
      propagation: 'None',
      selinuxRelabel: false,
    })),
    devices,
    annotations,
    cdiDevices: cdiDevices.map(({ name }) => name),
  }
}
