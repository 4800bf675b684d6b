#!/usr/bin/env node
import '#dinodns-zones';
