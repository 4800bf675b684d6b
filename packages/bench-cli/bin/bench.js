#!/usr/bin/env node
import { keepCompiledCode } from '@dinodns-bench/program/compile-cache';

keepCompiledCode();
await import('#bench');
