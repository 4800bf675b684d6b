#!/usr/bin/env node
import '#bench';
