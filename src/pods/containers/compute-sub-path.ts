import type { VolumeMount } from '../../model/generated/core-v1.ts'
import { ContainerConfigError } from './pod-config-error.ts'
import { expandVariables } from './environment/expand-variables.ts'

/** Which part of a volume a container gets; empty for all of it. Variables of the container's environment are put in. */
export function computeSubPath(
  { subPath = '', subPathExpr = '' }: VolumeMount,
  environment: () => ReadonlyMap<string, string>,
): string {
  const path = subPathExpr === '' ? subPath : expand(subPathExpr, environment())
  // The words of the Go kubelet.
  if (path.startsWith('/')) throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`)
  if (path.split('/').includes('..'))
    throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`)
  return path
}

function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return expandVariables(text, (name) => {
    const value = variables.get(name) ?? ''
    // An empty part would be another directory than the one that is meant.
    if (value === '') throw new ContainerConfigError(`missing value for "${name}"`)
    return value
  })
}
