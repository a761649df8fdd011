import type { Endpoints } from '../../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../../model/schema/field-path.ts'
import { dnsLabel } from '../../../../model/schema/validation/name-rules.ts'
import { ProblemList } from '../../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../../store/api-object.ts'
import type { ResourceRules } from '../../resource.ts'
import { validateReachableAddress } from './validate-reachable-address.ts'

/** Who listens behind a service. */
export const endpointsRules: ResourceRules<ObjectOf<Endpoints>> = {
  fillDefaults: (endpoints) =>
    endpoints.subsets === undefined
      ? endpoints
      : {
          ...endpoints,
          subsets: endpoints.subsets.map(({ ports, ...subset }) => ({
            ...subset,
            ...(ports && { ports: ports.map((port) => ({ ...port, protocol: port.protocol || 'TCP' })) }),
          })),
        },
  validate: ({ subsets = [] }) => {
    const problems = new ProblemList()
    for (const [index, { addresses = [], notReadyAddresses = [], ports = [] }] of subsets.entries()) {
      const path = FieldPath.root.child('subsets').index(index)
      for (const [name, list] of Object.entries({ addresses, notReadyAddresses })) {
        for (const [place, { ip, hostname }] of list.entries()) {
          validateReachableAddress(path.child(name).index(place).child('ip'), ip, problems)
          if (hostname) problems.matches(path.child(name).index(place).child('hostname'), hostname, dnsLabel)
        }
      }
      if (addresses.length === 0 && notReadyAddresses.length === 0)
        problems.required(path, 'must specify `addresses` or `notReadyAddresses`')
      for (const [place, { name = '', port, protocol }] of ports.entries()) {
        if (name === '' && ports.length > 1) problems.required(path.child('ports').index(place).child('name'))
        problems.inRange(path.child('ports').index(place).child('port'), port, 1, 65_535)
        problems.oneOf(path.child('ports').index(place).child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'])
      }
    }
    return problems.violations
  },
}
