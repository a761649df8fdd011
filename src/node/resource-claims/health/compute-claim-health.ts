import type { Container, ResourceHealth, ResourceStatus } from '../../../model/generated/core-v1.ts'
import type { DriverDevice } from '../compute-container-claims.ts'
import type { Health } from './device-health-file.ts'

/** The devices that one line of a container's resources.claims gives it. */
export interface ClaimLine {
  readonly claim: NonNullable<NonNullable<Container['resources']>['claims']>[number]
  readonly devices: readonly (DriverDevice & { readonly health: Health; readonly message: string })[]
}

/** What a container's status says of the devices that it has of claims; a line without devices says nothing. */
export function computeClaimHealth(lines: readonly ClaimLine[], withMessages: boolean): readonly ResourceStatus[] {
  return lines.flatMap(({ claim: { name, request = '' }, devices }) => {
    const byId = new Map<string, ResourceHealth>()
    for (const { health, message, ...device } of devices) {
      const resourceID = device.cdiDeviceIds[0] ?? `${device.driver}/${device.poolName}/${device.deviceName}`
      const said = withMessages && message !== '' ? { message } : {}
      if (!byId.has(resourceID)) byId.set(resourceID, { resourceID, health, ...said })
    }
    if (byId.size === 0) return []
    return [{ name: `claim:${name}${request === '' ? '' : `/${request}`}`, resources: [...byId.values()] }]
  })
}
