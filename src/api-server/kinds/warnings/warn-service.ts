import type { Service } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { warnOfAddress } from './warn-address.ts'

const SPEC = FieldPath.root.child('spec')
const HINTS_ANNOTATION = 'service.kubernetes.io/topology-aware-hints'
const MODE_ANNOTATION = 'service.kubernetes.io/topology-mode'

/** Advice about a service: fields that its type or its lack of an address makes meaningless, and those on their way out. */
export function warnOfService({ metadata, spec = {} }: Service): readonly string[] {
  const { type, clusterIP, clusterIPs = [], externalIPs = [], loadBalancerIP, trafficDistribution } = spec
  const isHeadless = type === 'ClusterIP' && clusterIP === 'None'
  const isName = type === 'ExternalName'
  const hasExternal = externalIPs.length > 0
  const rows: readonly (readonly [isSo: boolean, text: string])[] = [
    [
      HINTS_ANNOTATION in (metadata?.annotations ?? {}),
      `annotation ${HINTS_ANNOTATION} is deprecated, please use ${MODE_ANNOTATION} instead`,
    ],
    [isHeadless && Boolean(loadBalancerIP), 'spec.loadBalancerIP is ignored for headless services'],
    [isHeadless && hasExternal, 'spec.externalIPs is ignored for headless services'],
    [isHeadless && spec.sessionAffinity !== 'None', 'spec.SessionAffinity is ignored for headless services'],
    [
      hasExternal && !isHeadless && !isName,
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
    [isName && hasExternal, 'spec.externalIPs is ignored when spec.type is "ExternalName"'],
    [!isName && Boolean(spec.externalName), 'spec.externalName is ignored when spec.type is not "ExternalName"'],
    [
      trafficDistribution === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ]
  return [
    ...rows.flatMap(([isSo, text]) => (isSo ? [text] : [])),
    ...clusterIPs.flatMap((address, index) => warnOfAddress(address, SPEC.child('clusterIPs').index(index))),
    ...externalIPs.flatMap((address, index) => warnOfAddress(address, SPEC.child('externalIPs').index(index))),
    ...warnOfAddress(loadBalancerIP ?? '', SPEC.child('loadBalancerIP')),
  ]
}
