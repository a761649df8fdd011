import type { VolumeMount } from '../../model/generated/core-v1.ts'
import { ContainerConfigError } from './pod-config-error.ts'
import { expandVariables } from './environment/expand-variables.ts'

/** Which part of a volume a container gets; empty for all of it. Variables of the container's environment are put in. */
export function computeSubPath(
  { name, subPath = '', subPathExpr = '' }: VolumeMount,
  environment: () => ReadonlyMap<string, string>,
): string {
  const path = subPathExpr === '' ? subPath : expand(subPathExpr, environment())
  if (path.startsWith('/') || path.split('/').includes('..'))
    throw new ContainerConfigError(
      `Cannot use subPath "${path}" of volume "${name}": expected a relative path without ".."`,
    )
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
