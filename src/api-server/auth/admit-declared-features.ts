import { FieldPath } from '../../model/schema/field-path.ts'
import { featuresToUpdate } from '../../model/resources/required-features.ts'
import { forbidden, invalid } from '../api-error.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { sameValue } from '../../base/document/same-value.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'

const HOST_NETWORK = FieldPath.root.child('spec').child('hostNetwork')
const OWN_USERS_IN_HOST_NETWORK = 'UserNamespacesHostNetworkSupport'

/**
 * Rejects a new pod with users of its own in the network of the node where no node can run it: what a cluster knows by the gate of its API server, this one knows by
 * what nodes declare. Throws an ApiError.
 */
export function admitUsersInHostNetwork(change: Change, objects: ObjectReader): void {
  if (!isChangeOf(change, 'pods') || change.before !== undefined) return
  const { spec, metadata } = change.after ?? {}
  if (spec?.hostNetwork !== true || spec.hostUsers !== false) return
  const nodes = objects.list('nodes')
  if (nodes.some(({ status }) => status?.declaredFeatures?.includes(OWN_USERS_IN_HOST_NETWORK))) return
  const violation = { path: HOST_NETWORK, rule: 'Forbidden: not together with hostUsers: false' }
  throw invalid({ group: '', kind: 'Pod', name: metadata?.name ?? '' }, [violation])
}

/**
 * Rejects a change of a bound pod that its node has not declared to be able to carry out. Throws an ApiError.
 * Parity: plugin/pkg/admission/nodedeclaredfeatures.
 */
export function admitDeclaredFeatures(change: Change, objects: ObjectReader): void {
  if (!isChangeOf(change, 'pods')) return
  const [old, spec] = [change.before?.spec, change.after?.spec]
  if (old === undefined || spec?.nodeName === undefined || sameValue(old, spec)) return
  const features = featuresToUpdate({ spec: old }, { spec })
  if (features.length === 0) return
  const target = { group: '', resource: 'pods', name: change.key.name }
  const node = objects.get({ resource: 'nodes', namespace: '', name: spec.nodeName })
  if (node === undefined) throw forbidden(target, `node "${spec.nodeName}" not found`)
  const declared = node.status?.declaredFeatures ?? []
  const missing = features.filter((name) => !declared.includes(name))
  if (missing.length > 0)
    throw forbidden(
      target,
      `pod update requires features ${missing.join(', ')} which are not available on node "${spec.nodeName}"`,
    )
}
