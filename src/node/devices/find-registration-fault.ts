import { isExtendedResource } from '../../model/resources/is-extended-resource.ts'

const VERSION = 'v1beta1'
// A prefix that is a DNS name, and a name; together with "requests." in front they have to name a resource of a quota.
const PREFIX = /^[a-z0-9](?:[a-z0-9.\-]*[a-z0-9])?$/v
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.\-]*[A-Za-z0-9])?$/v
const LONGEST_PREFIX = 253 - 'requests.'.length
const LONGEST_NAME = 63

/** Why a device plugin cannot be taken into use; undefined when it can. */
export function findRegistrationFault({
  resource,
  versions,
}: {
  readonly resource: string
  readonly versions: readonly string[]
}): string | undefined {
  if (!versions.includes(VERSION))
    return `requested API version "${versions.join(', ')}" is not supported by kubelet. Supported version is ["${VERSION}"]`
  return isDeviceResource(resource) ? undefined : `the ResourceName "${resource}" is invalid`
}

function isDeviceResource(resource: string): boolean {
  const [prefix = '', name = '', ...rest] = resource.split('/')
  const isShort = prefix.length <= LONGEST_PREFIX && name.length <= LONGEST_NAME
  return isExtendedResource(resource) && rest.length === 0 && isShort && PREFIX.test(prefix) && NAME.test(name)
}
